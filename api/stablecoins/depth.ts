import { z } from 'zod'
import { Coverage, type DataState, withState } from '../../clickhouse/chain/coverage.js'
import { type Unsampled, unsampledAt } from '../../clickhouse/chain/sampling.js'
import { depthAt, depthQuote } from '../../clickhouse/depth/depth.js'
import { SIZE_REASONS, sizePrice } from '../../clickhouse/depth/liquidity.js'
import type { OrderBooks } from '../../clickhouse/exchange/books.js'
import type { Rules } from '../../clickhouse/exchange/rules.js'
import { sizeQuote } from '../../clickhouse/exchange/stable-quotes.js'
import { pegCoverage } from '../../clickhouse/peg/coverage.js'
import { ONE_TOKEN, REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfEcho, AsOfQuery, lastSeconds, STATE_SECONDS } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { costOfBooks } from './exchange-books.js'

/** A query parameter with an amount. */
export const SizeQuery = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a whole number of tokens, from 1 to 999999999999999')
  .transform(Number)
  .optional()
  .meta({ description: 'A number of whole tokens, for which the answer has the price too', examples: ['25000'] })

/** Most sizes of an answer. */
const MOST_SIZES = 20

const SizesQuery = z
  .string()
  .regex(
    new RegExp(`^[1-9]\\d{0,14}(,[1-9]\\d{0,14}){0,${MOST_SIZES - 1}}$`),
    `must be at most ${MOST_SIZES} whole numbers of tokens, from 1 to 999999999999999, separated by commas`,
  )
  .transform((text) => text.split(',').map(Number))
  .optional()
  .meta({
    description: `At most ${MOST_SIZES} numbers of whole tokens, separated by commas, for each of which the answer has the price`,
    examples: ['100,2500,400000'],
  })

const SizePrice = z.object({
  price: z.number().nullable().meta({ description: 'For one token of it on average, in the reference stable' }),
  cost_bps: z
    .number()
    .nullable()
    .meta({ description: 'How much worse than 1 that price is, in basis points; negative if it is better' }),
  reason: z.enum(SIZE_REASONS).nullable().meta({ description: 'Why there is no price; null if there is one' }),
})

const AtSize = z.object({
  size_tokens: z.int().meta({ description: 'The requested number of whole tokens' }),
  sell: SizePrice.meta({ description: 'For selling them' }),
  buy: SizePrice.meta({ description: 'For buying them' }),
})

/** What the books of an instant quote for these sizes of a stable. */
export async function pricesOfSizes(
  exchange: Promise<{ books: OrderBooks; rules: Rules }>,
  stable: string,
  sizes: readonly number[],
): Promise<z.input<typeof AtSize>[]> {
  const { books, rules } = await exchange
  return sizes.map((size_tokens) => {
    const quote = sizeQuote(books, rules, stable, BigInt(size_tokens) * ONE_TOKEN)
    return {
      size_tokens,
      sell: sizePrice('sell', quote?.sell ?? null, size_tokens),
      buy: sizePrice('buy', quote?.buy ?? null, size_tokens),
    }
  })
}

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
  at_size: AtSize.nullable().meta({
    description: 'The exact prices of `size` at the instant; null if none was requested',
  }),
  at_sizes: z
    .array(AtSize)
    .nullable()
    .meta({ description: 'Those of `sizes`, in their order; null if none were requested' }),
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
    'What the chain’s own exchange quotes for four sizes at the newest sampled block, sampled every few minutes; and for any `size` or `sizes` at the instant itself, exactly, from the order books.',
  about: 'moment',
  query: { ...AsOfQuery, size: SizeQuery, sizes: SizesQuery },
  response: DepthResponse,
  cache: CACHE_POLICIES.depth,
  cost: ({ query }) => (query.size === undefined && query.sizes === undefined ? 1 : costOfBooks(query)),
  covers: ({ stable, at, since, query }) => ({
    families: query.size === undefined && query.sizes === undefined ? ['pegs'] : ['pegs', 'catalogue'],
    stable,
    since,
    ...lastSeconds(at, STATE_SECONDS),
  }),
  answer: async ({ app, stable, at, cutoff, coverage, query: { size, sizes: requested }, reads }) => {
    const [sampled, unsampled, prices] = await Promise.all([
      depthAt(app.clickhouse, { stable, as_of: cutoff }, reads),
      unsampledAt(app.clickhouse, { stable, at }, reads),
      size === undefined && requested === undefined
        ? []
        : pricesOfSizes(app.exchangeBooks(cutoff, reads), stable, [
            ...(size === undefined ? [] : [size]),
            ...(requested ?? []),
          ]),
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
      at_size: size === undefined ? null : (prices[0] ?? null),
      at_sizes: requested === undefined ? null : prices.slice(size === undefined ? 0 : 1),
    }
  },
})
