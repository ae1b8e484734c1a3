import { z } from 'zod'
import { depthQuote, depthSeries } from '../../clickhouse/depth/depth.js'
import { pegColumns, pegSeriesOfAll } from '../../clickhouse/peg/all-series.js'
import type { PegSums } from '../../clickhouse/peg/sums.js'
import { pegWindowSeries } from '../../clickhouse/peg/window-series.js'
import { byPegWindow, LONGEST_PEG_WINDOW, PEG_WINDOWS, windowFigures } from '../../clickhouse/peg/windows.js'
import { stablecoinNames } from '../../clickhouse/stablecoins/stablecoins.js'
import { stableSymbol } from '../../clickhouse/stablecoins/texts.js'
import { Address, stableAddress } from '../../clickhouse/store/values.js'
import { thisSecond } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { bucketsOf, ColumnsHead, ColumnsQuery, column, covered, rangeOf } from '../answers/columns.js'
import { endpoint } from '../answers/endpoint.js'
import { costOfRows, readRange } from '../answers/range.js'
import { PEG_PERIODS_TEXT, PEG_WINDOWS_TEXT, PegWindow } from '../answers/shapes.js'
import { requireStable } from '../answers/stable.js'

const StablesQuery = {
  stables: z
    .string()
    .transform((list) => [...new Set(list.split(','))])
    .pipe(z.array(Address).max(200))
    .optional()
    .meta({ description: 'Addresses of tracked stables, separated by commas; all that are in use if omitted' }),
}

const AllPegSeries = z.object({
  ...ColumnsHead,
  stables: z
    .array(
      z.object({
        address: stableAddress,
        symbol: stableSymbol,
        low_bps: column(z.number(), 'Lowest price, in basis points from 1.00, signed; null without a price'),
        high_bps: column(z.number(), 'Highest price, in basis points from 1.00, signed; null without a price'),
        last_bps: column(z.number(), 'Last price, in basis points from 1.00, signed; null without a price'),
        unquoted_share: column(
          z.number().min(0).max(1),
          'Share of the samples that have no price, to six decimals; null where nothing was sampled',
        ),
      }),
    )
    .meta({ description: 'By address: those that were sampled in the range, or those that were asked for' }),
})

export const allPegSeriesRoute = endpoint({
  path: '/stablecoins/peg/series',
  tag: 'peg',
  operationId: 'getAllPegSeries',
  summary: 'Prices of all stables by bucket, in columns',
  description: 'What a picture of all pegs needs, in one small answer: each stable has arrays with a value per bucket.',
  about: 'now',
  query: { ...ColumnsQuery, ...StablesQuery },
  response: AllPegSeries,
  problems: [400, 404, 503],
  cache: CACHE_POLICIES.columns,
  cost: async ({ app, query }) => {
    const stables = query.stables?.length ?? (await app.stables.countInUse())
    return costOfRows(rangeOf(app, query, stables).buckets * stables)
  },
  check: async ({ app, query }) => {
    for (const address of query.stables ?? []) await requireStable(app, address, 'stables')
  },
  covers: ({ app, query }) => ({ families: ['pegs'], ...covered(readRange(app, query)) }),
  answer: async ({ app, query, signal }) => {
    const count = query.stables?.length ?? (await app.stables.countInUse())
    const { buckets, head } = await bucketsOf(app, query, signal, count)
    const [rows, names] = await Promise.all([
      pegSeriesOfAll(app.clickhouse, { stables: query.stables ?? [], ...buckets }, { signal }),
      stablecoinNames(app.clickhouse, { at: thisSecond(app) }, { signal }),
    ])
    const points = new Map(rows.map(({ stable, points }) => [stable, points]))
    const isAsked = (address: string): boolean => query.stables?.includes(address) ?? points.has(address)
    return {
      ...head,
      stables: names
        .filter(({ address }) => isAsked(address))
        .map(({ address, symbol }) => ({
          address,
          symbol,
          ...pegColumns(points.get(address) ?? [], head.bucket_count),
        })),
    }
  },
})

const { window: Window, ...FIGURES } = PegWindow.shape
type Figure = keyof typeof FIGURES
const FIGURE_NAMES = Object.keys(FIGURES) as Figure[]

const PegWindowSeries = z.object({
  address: stableAddress,
  ...ColumnsHead,
  windows: z
    .array(
      z.object({
        window: Window,
        ...(Object.fromEntries(
          Object.entries(FIGURES).map(([name, schema]) => [name, z.array(schema).meta(schema.meta() ?? {})]),
        ) as { [Name in Figure]: z.ZodArray<(typeof FIGURES)[Name]> }),
      }),
    )
    .meta({ description: `Of the last ${PEG_PERIODS_TEXT}, as of the end of each bucket` }),
})

export const pegWindowSeriesRoute = endpoint({
  path: '/stablecoins/:address/peg/windows/series',
  tag: 'peg',
  operationId: 'getPegWindowSeries',
  summary: `The ${PEG_WINDOWS_TEXT} windows at every step of a range`,
  description:
    'The figures that /peg?as_of has at the end of each bucket, in one answer: arrays with a value per bucket.',
  about: 'now',
  query: ColumnsQuery,
  response: PegWindowSeries,
  problems: [400, 404, 503],
  cache: CACHE_POLICIES.columns,
  cost: ({ app, query }) => costOfRows(rangeOf(app, query).buckets * PEG_WINDOWS.length),
  covers: ({ app, query, stable, since }) => {
    const range = covered(readRange(app, query))
    return { families: ['pegs'], stable, since, ...range, from: Math.max(range.from - LONGEST_PEG_WINDOW, 0) }
  },
  answer: async ({ app, query, stable, signal }) => {
    const { buckets, head } = await bucketsOf(app, query, signal)
    const series = head.bucket_count
      ? await pegWindowSeries(app.clickhouse, { stable, ...buckets }, { signal })
      : byPegWindow((): PegSums[] => [])
    return {
      address: stable,
      ...head,
      windows: PEG_WINDOWS.map(({ window }) => {
        const figures = series[window].map(windowFigures)
        const columns = FIGURE_NAMES.map((name) => [name, figures.map((figure) => figure[name])])
        return { window, ...(Object.fromEntries(columns) as { [Name in Figure]: never[] }) }
      }),
    }
  },
})

const SLIPPAGE = 'in basis points of the price of a single token; null without a sample in the bucket or a quote'

const DepthSeries = z.object({
  address: stableAddress,
  ...ColumnsHead,
  sizes: z
    .array(
      z.object({
        size_tokens: z.int().meta({ description: 'How many whole tokens' }),
        sell_slippage_bps: column(z.number(), `What selling them costs at the newest sample, ${SLIPPAGE}`),
        buy_slippage_bps: column(z.number(), `What buying them costs at the newest sample, ${SLIPPAGE}`),
        is_sampled: z.array(z.boolean()).meta({ description: 'Whether the depth was sampled in the bucket' }),
      }),
    )
    .meta({ description: 'By size; empty if the depth was not sampled in the range' }),
})

export const depthSeriesRoute = endpoint({
  path: '/stablecoins/:address/depth/series',
  tag: 'peg',
  operationId: 'getDepthSeries',
  summary: 'Slippage by size and bucket, selling and buying',
  description: 'The newest sample of each bucket, as /depth has it: arrays with a value per bucket.',
  about: 'now',
  query: ColumnsQuery,
  response: DepthSeries,
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
    const nothing = () => Array.from({ length: head.bucket_count }, () => null as number | null)
    const sizes = [...new Set(rows.map(({ size_tokens }) => size_tokens))].toSorted((a, b) => a - b)
    return {
      address: stable,
      ...head,
      sizes: sizes.map((size_tokens) => {
        const columns = { sell_slippage_bps: nothing(), buy_slippage_bps: nothing() }
        const is_sampled = Array.from({ length: head.bucket_count }, () => false)
        for (const row of rows.filter((row) => row.size_tokens === size_tokens)) {
          is_sampled[row.bucket_index] = true
          for (const side of ['sell', 'buy'] as const) {
            const [status, raw, one_token_micros] = [row[`${side}_status`], row[`${side}_raw`], row[`${side}_micros`]]
            const quote = depthQuote(side, { status, raw, size_tokens, one_token_micros })
            columns[`${side}_slippage_bps`][row.bucket_index] = quote.slippage_bps
          }
        }
        return { size_tokens, ...columns, is_sampled }
      }),
    }
  },
})
