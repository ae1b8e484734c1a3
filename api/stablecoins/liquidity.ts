import { z } from 'zod'
import { Coverage, withState } from '../../clickhouse/chain/coverage.js'
import { unsampledAt } from '../../clickhouse/chain/sampling.js'
import { depthAt, depthSeries } from '../../clickhouse/depth/depth.js'
import {
  DEPTH_BPS,
  type Depth,
  depthWithin,
  EXIT_BPS,
  exitShare,
  routeTo,
  SIZE_REASONS,
  type SizeQuotes,
  sizePrices,
  supplyAndRoute,
} from '../../clickhouse/depth/liquidity.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { integerText, stableAddress } from '../../clickhouse/store/values.js'
import { isoSeconds } from '../../process/instants.js'
import { AsOfEcho, AsOfQuery, lastSeconds, STATE_SECONDS } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { bucketsOf, ColumnsHead, ColumnsQuery, column, covered, rangeOf } from '../answers/columns.js'
import { endpoint } from '../answers/endpoint.js'
import { costOfRows, readRange } from '../answers/range.js'
import { pricesOfSizes, quotesState, SizeQuery } from './depth.js'
import { costOfBooks } from './exchange-books.js'

const SidePrice = z.object({
  status: z.string().meta({ description: 'quoted, or why there is no quote' }),
  price: z.number().nullable().meta({ description: 'Average price of one token of it, in the reference stable' }),
  deviation_bps: z
    .number()
    .nullable()
    .meta({ description: 'Distance of that price from 1.00 in basis points, negative below it' }),
})

const tokens = z.number().nonnegative().nullable()

const DepthShape = z.object({
  tokens: tokens.meta({
    description: 'Estimate between two sampled sizes; null below the smallest, above the largest, or without a price',
  }),
  at_least_tokens: tokens.meta({ description: 'The largest sampled size within the limit; null if none is' }),
  less_than_tokens: tokens.meta({
    description: 'The next larger sampled size, which is not; null if none is known not to be',
  }),
})

const share = z.number().nonnegative().nullable()

const LiquidityResponse = z.object({
  address: stableAddress,
  as_of: AsOfEcho,
  block_number: z.int().nullable().meta({ description: 'Height of the sampled block; null if it is not sampled' }),
  sampled_at: z.iso.datetime().nullable().meta({ description: 'Time of that block' }),
  sample_age_seconds: z.int().nonnegative().nullable().meta({ description: 'From that block to now, or to as_of' }),
  coverage: Coverage,
  route: z.array(z.string()).nullable().meta({
    description:
      'The only route on which the exchange trades it at that block: its address, those of the tokens between, and that of the reference stable; null if there is none',
  }),
  sizes: z
    .array(
      z.object({
        size_tokens: z.int().meta({ description: 'How many whole tokens' }),
        sell: SidePrice.meta({ description: 'For selling them' }),
        buy: SidePrice.meta({ description: 'For buying them' }),
        mid_price: z.number().nullable().meta({ description: 'Halfway between both prices; null without both' }),
        half_spread_bps: z
          .number()
          .nullable()
          .meta({ description: 'Half of the difference between both prices, in basis points of mid_price' }),
      }),
    )
    .meta({ description: 'From 1,000 to 1,000,000 tokens; empty if it is not sampled' }),
  depth_at_bps: z
    .array(
      z.object({
        bps: z.int().meta({ description: 'How much worse than 1.00 the average price may be' }),
        sell: DepthShape.meta({ description: 'How many tokens can be sold' }),
        buy: DepthShape.meta({ description: 'How many tokens can be bought' }),
      }),
    )
    .meta({ description: 'The largest sizes whose average price is within 10, 50 and 100 basis points of the peg' }),
  supply: integerText.nullable().meta({ description: 'In base units: 6 decimals; null if it was never read' }),
  exit_share: z
    .object({
      share: share.meta({ description: 'Of `tokens`; null without it, or without a supply' }),
      at_least: share.meta({ description: 'Of `at_least_tokens`' }),
      less_than: share.meta({ description: 'Of `less_than_tokens`' }),
    })
    .meta({
      description: `Depth for selling within ${EXIT_BPS} bps, as a share of the supply; above 1 if more is bid for than exists`,
    }),
  exit_cost: z
    .object({
      size_tokens: z.int().meta({ description: 'How many whole tokens are sold' }),
      exit_cost_bps: z.number().nullable().meta({
        description: 'How much worse than 1.00 the average price is, in basis points; negative if it is better',
      }),
      reason: z.enum(SIZE_REASONS).nullable().meta({ description: 'Why it is null' }),
    })
    .nullable()
    .meta({ description: 'What selling `size` tokens costs at the instant, exactly; null without `size`' }),
})

/** The depths of both sides within `bps` of the peg. */
const depthsWithin = (rows: readonly SizeQuotes[], bps: number) => ({
  sell: depthWithin('sell', rows, bps),
  buy: depthWithin('buy', rows, bps),
})

export const liquidityRoute = endpoint({
  path: '/stablecoins/:address/liquidity',
  tag: 'peg',
  operationId: 'getLiquidity',
  summary: 'Prices that can be traded at: deviation and spread by size, depth by bps, exit cost',
  description:
    'What the chain’s own exchange quotes for each size at the newest sampled block, measured against the peg of 1; depths between sampled sizes are interpolated over the logarithm of the size, and nothing is extrapolated. The cost of `size` is exact, from the order books. Stables whose routes share a book each show all of it, so depths do not add up.',
  about: 'moment',
  query: { ...AsOfQuery, size: SizeQuery },
  response: LiquidityResponse,
  cache: CACHE_POLICIES.depth,
  cost: ({ query }) => (query.size === undefined ? 1 : costOfBooks(query)),
  covers: ({ stable, at, since, query }) => ({
    families: query.size === undefined ? ['pegs', 'state'] : ['pegs', 'state', 'catalogue'],
    stable,
    since,
    ...lastSeconds(at, STATE_SECONDS),
  }),
  answer: async ({ app, stable, at, cutoff, coverage, query: { size }, reads }) => {
    const [sampled, unsampled, [exit]] = await Promise.all([
      depthAt(app.clickhouse, { stable, as_of: cutoff }, reads),
      unsampledAt(app.clickhouse, { stable, at }, reads),
      size === undefined ? [] : pricesOfSizes(app.exchangeBooks(cutoff, reads), stable, [size]),
    ])
    // What was sampled before the stable left the list is not its liquidity at the instant.
    const rows = unsampled ? [] : sampled
    const newest = rows[0]
    const { supply_raw, route } = newest
      ? await supplyAndRoute(app.clickhouse, { stable, at, block_number: newest.block_number }, reads)
      : { supply_raw: null, route: [] }
    const isQuoted = rows.flatMap(({ sell_raw, buy_raw }) => [sell_raw !== null, buy_raw !== null])
    return {
      address: stable,
      block_number: newest?.block_number ?? null,
      sampled_at: newest ? isoSeconds(newest.block_time) : null,
      // The clock of the chain may be ahead of ours.
      sample_age_seconds: newest ? Math.max(Math.floor((at.getTime() - newest.block_time.getTime()) / 1000), 0) : null,
      coverage: withState(coverage, quotesState(stable, isQuoted, unsampled)),
      route: routeTo(REFERENCE_STABLE, route),
      sizes: rows.map(sizePrices),
      depth_at_bps: DEPTH_BPS.map((bps) => ({ bps, ...depthsWithin(rows, bps) })),
      supply: supply_raw,
      exit_share: exitShare(depthWithin('sell', rows, EXIT_BPS), supply_raw),
      exit_cost: exit
        ? { size_tokens: exit.size_tokens, exit_cost_bps: exit.sell.cost_bps, reason: exit.sell.reason }
        : null,
    }
  },
})

const NONE_IN_BUCKET = 'null without a sample in the bucket or a quote'

const DepthColumns = z.object({
  tokens: column(z.number(), 'Estimate between two sampled sizes; null where none can be made'),
  at_least_tokens: column(z.number(), 'The largest sampled size within the limit'),
  less_than_tokens: column(z.number(), 'The next larger sampled size, which is not'),
})

const LiquiditySeries = z.object({
  address: stableAddress,
  ...ColumnsHead,
  sizes: z
    .array(
      z.object({
        size_tokens: z.int().meta({ description: 'How many whole tokens' }),
        sell_deviation_bps: column(z.number(), `Distance of the price for selling them from 1.00, ${NONE_IN_BUCKET}`),
        buy_deviation_bps: column(z.number(), `Distance of the price for buying them from 1.00, ${NONE_IN_BUCKET}`),
        half_spread_bps: column(z.number(), 'Half of the difference between both, null without both'),
        is_sampled: z.array(z.boolean()).meta({ description: 'Whether the size was sampled in the bucket' }),
      }),
    )
    .meta({ description: 'By size; empty if the depth was not sampled in the range' }),
  depth_at_50bps: z
    .object({
      sell: DepthColumns.meta({ description: 'How many tokens can be sold' }),
      buy: DepthColumns.meta({ description: 'How many tokens can be bought' }),
    })
    .meta({ description: 'The largest sizes whose average price is within 50 basis points of the peg' }),
})

const depthColumns = (depths: readonly Depth[]) => ({
  tokens: depths.map(({ tokens }) => tokens),
  at_least_tokens: depths.map(({ at_least_tokens }) => at_least_tokens),
  less_than_tokens: depths.map(({ less_than_tokens }) => less_than_tokens),
})

export const liquiditySeriesRoute = endpoint({
  path: '/stablecoins/:address/liquidity/series',
  tag: 'peg',
  operationId: 'getLiquiditySeries',
  summary: 'Deviation and spread by size, and depth within 50 bps, at every step of a range',
  description: 'The newest sample of each bucket, as /liquidity has it: arrays with a value per bucket.',
  about: 'now',
  query: ColumnsQuery,
  response: LiquiditySeries,
  problems: [400, 404, 503],
  cache: CACHE_POLICIES.columns,
  cost: ({ app, query }) => costOfRows(rangeOf(app, query).buckets),
  covers: ({ app, query, stable, since }) => ({
    families: ['pegs'],
    stable,
    since,
    ...covered(readRange(app, query)),
  }),
  answer: async ({ app, query, stable, signal }) => {
    const { buckets, head } = await bucketsOf(app, query, signal)
    const rows = await depthSeries(app.clickhouse, { stable, ...buckets }, { signal })
    const samples: (typeof rows)[] = Array.from({ length: head.bucket_count }, () => [])
    for (const row of rows) samples[row.bucket_index]?.push(row)
    const sizes = [...new Set(rows.map(({ size_tokens }) => size_tokens))].toSorted((a, b) => a - b)
    const depths = samples.map((rows) => depthsWithin(rows, EXIT_BPS))
    return {
      address: stable,
      ...head,
      sizes: sizes.map((size_tokens) => {
        const rowsOfSize = samples.map((rows) => rows.find((row) => row.size_tokens === size_tokens))
        const prices = rowsOfSize.map((row) => (row ? sizePrices(row) : null))
        return {
          size_tokens,
          sell_deviation_bps: prices.map((price) => price?.sell.deviation_bps ?? null),
          buy_deviation_bps: prices.map((price) => price?.buy.deviation_bps ?? null),
          half_spread_bps: prices.map((price) => price?.half_spread_bps ?? null),
          is_sampled: rowsOfSize.map((row) => row !== undefined),
        }
      }),
      depth_at_50bps: {
        sell: depthColumns(depths.map(({ sell }) => sell)),
        buy: depthColumns(depths.map(({ buy }) => buy)),
      },
    }
  },
})
