import type { BreakRule } from '../hysteresis.js'
import { MAX_DEPTH_SECONDS, type PriceOf } from './prices.js'

/** The price that the agreed tracks follow: that of one token, as far as the price of 10,000 agrees. */
export const AGREED_PRICE = { size_tokens: 1, agree_tokens: 10_000 } as const satisfies PriceOf

const SHARED = { tau_seconds: 30, baseline_seconds: 0, unquoted_seconds: 120 }

/**
 * The agreed tracks: a break ends well inside its limit, prices are smoothed over half a minute, and two minutes without a
 * quote are a lost quote. docs/backtest.md has what was measured of them.
 */
export const AGREED_TRACKS = {
  mild: { enter_bps: 10, exit_bps: 7, min_seconds: 300, ...SHARED },
  severe: { enter_bps: 50, exit_bps: 35, min_seconds: 60, ...SHARED },
} as const satisfies Record<string, BreakRule>

/** After this time older prices no longer matter: the newest larger size is known, and 30 time constants have passed. */
export const SETTLED_SECONDS = MAX_DEPTH_SECONDS + 30 * SHARED.tau_seconds
