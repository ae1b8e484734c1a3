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

const Dated = z.object({ price_age_seconds: z.number(), quoted: z.boolean().nullable() })

/** A price or a quote that has become `seconds` older: its age grows, and whether there still is a quote is not known. */
function older(part: unknown, seconds: number): unknown {
  const dated = Dated.partial().loose().safeParse(part)
  if (!dated.success) return part
  const { price_age_seconds, quoted } = dated.data
  return {
    ...dated.data,
    ...(price_age_seconds !== undefined && { price_age_seconds: price_age_seconds + seconds }),
    ...(quoted !== undefined && { quoted: seconds > MAX_SAMPLE_SECONDS ? null : quoted }),
  }
}

/** A live answer with a price, or with a list of them, that is served `seconds` after it was made. */
export const aged = (answer: Record<string, unknown>, seconds: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(answer).map(([name, value]) => {
      if (name === 'stablecoins' && Array.isArray(value)) return [name, value.map((stable) => aged(stable, seconds))]
      return [name, ['current', 'peg', 'quote'].includes(name) ? older(value, seconds) : value]
    }),
  )
