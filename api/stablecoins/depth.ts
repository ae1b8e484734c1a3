import { z } from 'zod'
import { Coverage, type DataState, withState } from '../../clickhouse/chain/coverage.js'
import { type Unsampled, unsampledAt } from '../../clickhouse/chain/sampling.js'
import { depthAt, depthQuote } from '../../clickhouse/depth/depth.js'
import { EXIT_REASONS, priceOfSize } from '../../clickhouse/depth/liquidity.js'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { QuoteStatus, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfEcho, AsOfQuery, lastSeconds, STATE_SECONDS } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'

/** A query parameter with an amount. */
export const SizeQuery = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of tokens, from 1 to 999999999999999')
  .transform(Number)
  .optional()
  .meta({ description: 'A number of whole tokens, for which the answer has the price too', examples: ['25000'] })

const SizePrice = z.object({
  price: z.number().nullable().meta({ description: 'For one token of it on average, in the reference stable' }),
  cost_bps: z
    .number()
    .nullable()
    .meta({ description: 'How much worse than 1 that price is, in basis points; negative if it is better' }),
  reason: z
    .enum([...EXIT_REASONS, ...QuoteStatus.options])
    .nullable()
    .meta({ description: 'Why there is no price; null if there is one' }),
})

const Quote = z.object({
  status: z.string().meta({ description: 'quoted, or why there is no quote' }),
  amount: z.string().nullable().meta({ description: 'For all of the size, in base units of the reference stable' }),
  price: z.number().nullable().meta({ description: 'For one token of it, in the reference stable' }),
  slippage_bps: z
    .number()
    .nullable()
    .meta({ description: 'Difference from the price of a single token, in basis points' }),
})

const DepthResponse = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  block_number: z.int().nullable().meta({ description: 'Height of the sampled block; null if it is not sampled' }),
  sampled_at: z.iso.datetime().nullable().meta({ description: 'Time of that block' }),
  coverage: Coverage,
  sizes: z
    .array(
      z.object({
        size_tokens: z.int().meta({ description: 'How many whole tokens' }),
        sell: Quote.meta({ description: 'Quote for selling them' }),
        buy: Quote.meta({ description: 'Quote for buying them' }),
      }),
    )
    .meta({
      description:
        'From 1,000 to 1,000,000 tokens, whatever size was asked for; empty before the first sample, and of a stable that is no longer sampled',
    }),
  at_size: z
    .object({
      size_tokens: z.int().meta({ description: 'The requested number of whole tokens' }),
      sell: SizePrice.meta({ description: 'For selling them' }),
      buy: SizePrice.meta({ description: 'For buying them' }),
    })
    .nullable()
    .meta({
      description:
        'Prices of the requested `size`: estimates between the two sampled sizes next to it, over the logarithm of the size; nothing is extrapolated. null if none was requested',
    }),
})

/** What is known of a stable's depth, given how many of its quotes are there. */
export function quotesState(stable: string, isQuoted: readonly boolean[], unsampled: Unsampled | null): DataState {
  if (stable === REFERENCE_STABLE)
    return {
      status: 'unavailable',
      message: 'The reference stable: it has no depth, because all others are sold for it.',
    }
  if (unsampled) return pegCoverage(null, false, unsampled)
  if (isQuoted.length === 0)
    return {
      status: 'unavailable',
      message: 'No depth of it is sampled: that of stables in USD is, about once a minute.',
    }
  const quoted = isQuoted.filter(Boolean).length
  if (quoted === isQuoted.length) return { status: 'complete', message: 'Every size is quoted on both sides.' }
  if (quoted === 0) return { status: 'unavailable', message: 'No size is quoted.' }
  return {
    status: 'partial',
    message: `${quoted} of ${isQuoted.length} quotes are available; status says why the others are not.`,
  }
}

/** Prices of large amounts of a stable. */
export const depthRoute = endpoint({
  path: '/stablecoins/:address/depth',
  tag: 'peg',
  operationId: 'getDepth',
  summary: 'Price and slippage by size, selling and buying, now or at any time',
  description:
    'What the chain’s own exchange quotes for each size at the newest sampled block; sampled every few minutes.',
  about: 'moment',
  query: { ...AsOfQuery, size: SizeQuery },
  response: DepthResponse,
  cache: CACHE_POLICIES.depth,
  covers: ({ stable, at, since }) => ({ families: ['pegs'], stable, since, ...lastSeconds(at, STATE_SECONDS) }),
  answer: async ({ app, stable, at, cutoff, coverage, query: { size }, reads }) => {
    const [sampled, unsampled] = await Promise.all([
      depthAt(app.clickhouse, { stable, as_of: cutoff }, reads),
      unsampledAt(app.clickhouse, { stable, at }, reads),
    ])
    // What was sampled before the stable left the list is not its depth at the instant.
    const rows = unsampled ? [] : sampled
    const sizes = rows.map(({ size_tokens, ...row }) => ({
      size_tokens,
      sell: depthQuote('sell', {
        status: row.sell_status,
        raw: row.sell_raw,
        size_tokens,
        one_token_micros: row.sell_micros,
      }),
      buy: depthQuote('buy', {
        status: row.buy_status,
        raw: row.buy_raw,
        size_tokens,
        one_token_micros: row.buy_micros,
      }),
    }))
    return {
      address: stable,
      block_number: rows[0]?.block_number ?? null,
      sampled_at: rows[0] ? isoSeconds(rows[0].block_time) : null,
      coverage: withState(
        coverage,
        quotesState(
          stable,
          sizes.flatMap(({ sell, buy }) => [sell.amount !== null, buy.amount !== null]),
          unsampled,
        ),
      ),
      sizes,
      at_size:
        size === undefined
          ? null
          : { size_tokens: size, sell: priceOfSize('sell', rows, size), buy: priceOfSize('buy', rows, size) },
    }
  },
})
