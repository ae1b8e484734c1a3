import { MAX_DEPTH_SECONDS, type PriceOf } from './agreed/prices.js'
import type { Severity, Track } from './break-filter.js'
import type { BreakRule } from './hysteresis.js'
import { ALLOWED_MICROS } from './sums.js'

/** The price that each track follows: what one token sells for; on the agreed track the middle, as far as that of 10,000 agrees. */
export const BREAK_PRICES = {
  published: { price: 'bid', size_tokens: 1, agree_tokens: null },
  agreed: { price: 'mid', size_tokens: 1, agree_tokens: 10_000 },
} as const satisfies Record<Track, PriceOf>

const [MILD_BPS, SEVERE_BPS] = [ALLOWED_MICROS['10bps'] / 100, ALLOWED_MICROS['50bps'] / 100]
const [MILD_SECONDS, SEVERE_SECONDS] = [300, 60]
const AS_QUOTED = { tau_seconds: 0, baseline_seconds: 0, unquoted_seconds: null }
const SMOOTHED = { tau_seconds: 30, baseline_seconds: 0, unquoted_seconds: 120 }

/**
 * The rules of each track. A published break ends where it begins, and prices are taken as they are. An agreed one ends well
 * inside its limit, prices are smoothed over half a minute, and two minutes without a quote are a lost quote.
 * docs/backtest.md has what was measured of them.
 */
export const BREAK_RULES = {
  published: {
    mild: { enter_bps: MILD_BPS, exit_bps: MILD_BPS, min_seconds: MILD_SECONDS, ...AS_QUOTED },
    severe: { enter_bps: SEVERE_BPS, exit_bps: SEVERE_BPS, min_seconds: SEVERE_SECONDS, ...AS_QUOTED },
  },
  agreed: {
    mild: { enter_bps: MILD_BPS, exit_bps: 7, min_seconds: MILD_SECONDS, ...SMOOTHED },
    severe: { enter_bps: SEVERE_BPS, exit_bps: 35, min_seconds: SEVERE_SECONDS, ...SMOOTHED },
  },
} as const satisfies Record<Track, Record<Severity, BreakRule>>

/** The allowed distance of published breaks of a severity from 1, in millionths. */
export const allowedMicros = (severity: Severity): number => 100 * BREAK_RULES.published[severity].enter_bps

/** After this time older prices no longer matter: the newest larger size is known, and 30 time constants have passed. */
export const SETTLED_SECONDS = MAX_DEPTH_SECONDS + 30 * SMOOTHED.tau_seconds
