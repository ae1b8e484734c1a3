import { z } from 'zod'
import { type Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { outdated, pegCoverage } from '../../clickhouse/peg/coverage.js'
import type { CurrentPeg } from '../../clickhouse/peg/current.js'
import { MAX_SAMPLE_SECONDS, pegPrice, speaksFor } from '../../clickhouse/peg/price.js'
import { isoSeconds } from '../../process/instants.js'

/** Whether a stable can be sold, in answers that have its price. */
export const QuoteState = z
  .object({
    quoted: z.boolean().nullable().meta({
      description:
        'Whether one token can be sold on the exchange; null if the newest sample is more than 120 s old: nobody knows',
    }),
    unquoted_since: z.iso.datetime().nullable().meta({
      description: 'Time of the first block since which it could not be sold; null if it could at the newest sample',
    }),
    unquoted_since_is_bound: z.boolean().meta({
      description: 'true if it may have been unsellable before: the blocks before unquoted_since were not sampled',
    }),
  })
  .nullable()
  .meta({ description: 'Whether the stable is quoted; null before its first sample' })

/**
 * The price, the state of the quote and the coverage, as published in an answer about the instant `at` that was measured as
 * `measured` says.
 */
export function publishedQuote({ newest, priced, lost, unsampled }: CurrentPeg, at: Date, measured: Coverage) {
  const quoted = newest && !speaksFor(newest.block_time, at) ? null : lost === null
  const current = priced && pegPrice(priced, { at, quotedNow: quoted })
  const state = pegCoverage(newest?.status ?? null, current !== null, unsampled)
  return {
    current,
    quote: newest && {
      quoted,
      unquoted_since: lost && isoSeconds(lost.since),
      unquoted_since_is_bound: lost?.is_bound ?? false,
    },
    coverage: withState(measured, quoted === null && newest ? outdated(newest.block_time, state) : state),
  }
}

const AgingPrice = z.looseObject({ price_age_seconds: z.number(), sampled_at: z.string() }).nullable()

/** What changes with time in a live answer about a stable; its price is `current` in that of its peg, `peg` in others. */
const Aging = z
  .object({
    current: AgingPrice,
    peg: AgingPrice,
    quote: z.looseObject({ quoted: z.boolean().nullable() }).nullable(),
    coverage: z.looseObject({ status: z.enum(['complete', 'partial', 'unavailable']), message: z.string() }),
  })
  .partial()
  .loose()

/**
 * A live answer with a price, or with a list of them, that is served `seconds` after it was made: prices are older, and whether
 * there still is a quote is not known once the newest sample is too old to say.
 */
export function aged(answer: Record<string, unknown>, seconds: number): Record<string, unknown> {
  if (Array.isArray(answer.stablecoins))
    return { ...answer, stablecoins: answer.stablecoins.map((stable) => aged(stable, seconds)) }
  const aging = Aging.safeParse(answer)
  if (!aging.success) return answer
  const { quote, coverage, current, peg } = aging.data
  const price = current ?? peg
  // While there is a quote, the price is that of the newest sample.
  const age = seconds + (quote?.quoted === true ? (price?.price_age_seconds ?? 0) : 0)
  const isOld = age > MAX_SAMPLE_SECONDS
  const older = price && {
    ...price,
    price_age_seconds: price.price_age_seconds + seconds,
    ...(isOld && { quoted: null }),
  }
  const sampledAt = price && new Date(`${price.sampled_at.slice(0, 19).replace(' ', 'T')}Z`)
  return {
    ...answer,
    ...(current && { current: older }),
    ...(peg && { peg: older }),
    ...(quote && isOld && { quote: { ...quote, quoted: null } }),
    ...(coverage &&
      isOld &&
      sampledAt &&
      quote?.quoted === true && { coverage: { ...coverage, ...outdated(sampledAt, coverage) } }),
  }
}
