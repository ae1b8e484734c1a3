import { z } from 'zod'
import { type Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import type { CurrentPeg } from '../../clickhouse/peg/current.js'
import { pegPrice } from '../../clickhouse/peg/price.js'
import { isoSeconds } from '../../process/instants.js'

/** Whether a stable can be sold, in answers that have its price. */
export const QuoteState = z
  .object({
    quoted: z.boolean().meta({ description: 'Whether one token can be sold on the exchange' }),
    unquoted_since: z.iso.datetime().nullable().meta({
      description: 'Time of the first block since which it cannot be sold; null while it can',
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
  const current = priced && pegPrice(priced, { at, quotedNow: lost === null })
  return {
    current,
    quote: newest && {
      quoted: lost === null,
      unquoted_since: lost && isoSeconds(lost.since),
      unquoted_since_is_bound: lost?.is_bound ?? false,
    },
    coverage: withState(measured, pegCoverage(newest?.status ?? null, current !== null, unsampled)),
  }
}
