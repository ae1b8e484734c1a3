import { REFERENCE_STABLE } from '../../../clickhouse/peg/price.js'
import type { PolicyType } from '../../../clickhouse/stablecoins/newest-states.js'

/** The rating of a risk; `unrated` if the needed data was not measured. */
export const RATINGS = ['low', 'medium', 'high', 'unrated'] as const
type Rating = (typeof RATINGS)[number]

/** A rating, and its measurements in words. */
export type Rated = { rating: Rating; basis: string }

/** Figures of the last seven days, as clickhouse/peg/windows.ts makes them. */
type PegWeek = {
  sample_count: number
  unquoted_count: number
  max_deviation_bps: number | null
  seconds_outside_10bps: number | null
  seconds_outside_50bps: number | null
}

/** Up to `low` is low, above `high` is high. */
const DEVIATION_BPS = { low: 50, high: 200 }
/** Up to this long outside 10 bps is low; longer outside 50 bps is high. */
const OUTSIDE_SECONDS = 3600
/** Share of samples without a price: up to `low` is low, above `high` is high. */
const UNQUOTED_SHARE = { low: 0.05, high: 0.5 }

/**
 * Rates how far and how long a stable deviated from the reference stable in seven days, and how often it had no price.
 */
export function ratePeg(stable: string, week: PegWeek): Rated {
  if (stable === REFERENCE_STABLE)
    return { rating: 'unrated', basis: 'It is the reference stable, so its own price is 1 by definition.' }
  const { sample_count: quoted, unquoted_count: unquoted, max_deviation_bps: deviation } = week
  const [outside10, outside50] = [week.seconds_outside_10bps, week.seconds_outside_50bps]
  if (deviation === null || outside10 === null || outside50 === null) {
    return { rating: 'unrated', basis: `No price in the last 7 days; ${unquoted} samples without one.` }
  }
  const missing = unquoted / (quoted + unquoted)
  const isHigh = deviation > DEVIATION_BPS.high || outside50 > OUTSIDE_SECONDS || missing > UNQUOTED_SHARE.high
  const isLow = deviation <= DEVIATION_BPS.low && outside10 <= OUTSIDE_SECONDS && missing <= UNQUOTED_SHARE.low
  return {
    rating: isHigh ? 'high' : isLow ? 'low' : 'medium',
    basis: `In the last 7 days at most ${deviation} bps from 1, ${outside10} s outside 10 bps and ${outside50} s outside 50 bps; ${unquoted} of ${quoted + unquoted} samples had no price.`,
  }
}

type Policy = {
  type: PolicyType
  policy_id: string
  policy_admin: string | null
  paused: boolean
}

const POLICY_RATING: Readonly<Record<Policy['type'], Exclude<Rating, 'unrated'>>> = {
  allow_all: 'low',
  blacklist: 'medium',
  whitelist: 'high',
  compound: 'high',
  reject_all: 'high',
  unknown: 'high',
}

const POLICY_WORDS: Readonly<Record<Policy['type'], string>> = {
  allow_all: 'everybody may hold and send it',
  blacklist: 'accounts can be barred from it',
  whitelist: 'only admitted accounts may hold and send it',
  compound: 'senders, receivers and recipients of mints each have a policy',
  reject_all: 'nobody may send it',
  unknown: 'of a type that Plumbline does not know, so anybody may be kept from sending it',
}

/** Rates who can be kept from holding and sending a stable. Null if its state was never read. */
export function ratePolicy(policy: Policy | null): Rated {
  if (policy === null) return { rating: 'unrated', basis: 'Its transfer policy has not been read yet.' }
  const { type, policy_id, paused } = policy
  const basis = `Transfer policy ${policy_id}: ${POLICY_WORDS[type]}.`
  return paused
    ? { rating: 'high', basis: `All transfers are paused. ${basis}` }
    : { rating: POLICY_RATING[type], basis }
}

/**
 * Rates how many of two powers over all holders somebody has: to issue without a cap, and to change who may hold the
 * stable. None is low, one medium, both high. Null if its state was never read.
 */
export function rateCentralization(supply: { cap: string | null } | null, policy: Policy | null): Rated {
  if (supply === null || policy === null) return { rating: 'unrated', basis: 'Its state has not been read yet.' }
  const powers = [supply.cap === null, policy.policy_admin !== null].filter(Boolean).length
  const issuing = supply.cap === null ? 'Its supply has no cap' : `Its supply is capped at ${tokens(supply.cap)} tokens`
  const barring =
    policy.policy_admin === null ? 'its policy has no admin' : `${policy.policy_admin} administers its policy`
  return { rating: (['low', 'medium', 'high'] as const)[powers] ?? 'high', basis: `${issuing}, and ${barring}.` }
}

/** An amount in base units, which are millionths, in whole tokens with as many decimals as it has. */
export function tokens(raw: string): string {
  const digits = raw.padStart(7, '0')
  const decimals = digits.slice(-6).replace(/0+$/, '')
  return digits.slice(0, -6) + (decimals === '' ? '' : `.${decimals}`)
}
