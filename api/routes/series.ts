import type { FastifyInstance } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { chainSpan } from '../../clickhouse/queries/chain-span.js'
import { pegSeries } from '../../clickhouse/queries/peg-series.js'
import { supplySeries } from '../../clickhouse/queries/supply-series.js'
import { BUCKET_SECONDS, type BucketPage, bucketPage, type Interval } from '../../domain/buckets.js'
import { CursorQuery } from '../cursor.js'
import { problemResponses } from '../problem.js'
import { querySignal } from '../query-signal.js'
import { IntervalQuery, RangeQuery, readRange } from '../range-query.js'
import { exportResponse, sendExport } from '../send-export.js'
import { requireStable, StableParams } from './stable-params.js'

const SeriesQuery = z.strictObject({
  ...RangeQuery,
  ...IntervalQuery,
  cursor: CursorQuery(z.int().nonnegative()),
})

const bucket = { bucket_start: z.iso.datetime(), bucket_end: z.iso.datetime() }
const price = z.number().nonnegative().nullable()
const seconds = z.int().nonnegative().nullable()
const amount = z.string().regex(/^\d+$/)

const PegBucket = z.object({
  ...bucket,
  open: price.meta({ description: 'The first price in the bucket; null without one' }),
  high: price,
  low: price,
  close: price,
  mean: price.meta({ description: 'Over the samples with a price' }),
  seconds_outside_10bps: seconds,
  seconds_outside_50bps: seconds,
  sample_count: z.int().nonnegative().meta({ description: 'Samples with a price' }),
  unquoted_count: z.int().nonnegative().meta({ description: 'Samples without a price' }),
})

const SupplyBucket = z.object({
  ...bucket,
  supply: amount.nullable().meta({ description: 'Base units at the end of the bucket' }),
  cap: amount.nullable().meta({ description: 'Base units at the end of the bucket; null when there is none' }),
  minted: amount.meta({ description: 'Base units within the bucket' }),
  burned: amount,
})

/** The buckets that an answer has; none before the first block is in. */
async function bucketsOf(
  app: FastifyInstance,
  query: z.output<typeof SeriesQuery>,
  signal: AbortSignal,
): Promise<BucketPage> {
  const range = readRange(app, query)
  const [span] = await chainSpan(app.clickhouse, {}, { signal })
  if (!span) return { first: 0, end: 0, count: 0, next: null }
  const { interval, limit, cursor: after } = query
  return bucketPage({ interval, limit, after, ...range, ...span })
}

const head = (address: string, interval: Interval) => ({ address, interval })
const Head = { address: z.string(), interval: z.enum(Object.keys(BUCKET_SECONDS) as [Interval, ...Interval[]]) }

/** What a stable's price and supply were over time, in buckets of equal length without holes. */
export const seriesRoutes: FastifyPluginAsyncZod = async (app) => {
  const routes = [
    {
      name: 'peg',
      tag: 'peg',
      summary: 'Price against the reference stable by bucket',
      rows: pegSeries,
      Row: PegBucket,
    },
    { name: 'supply', tag: 'stablecoins', summary: 'Supply and cap by bucket', rows: supplySeries, Row: SupplyBucket },
  ]
  for (const { name, tag, summary, rows, Row } of routes) {
    const schema = {
      tags: [tag],
      summary,
      params: StableParams,
      querystring: SeriesQuery,
      response: { 200: exportResponse(Head, Row), ...problemResponses(400, 404, 503) },
    }
    app.get(`/stablecoins/:address/${name}/series`, { schema, exposeHeadRoute: false }, async (request, reply) => {
      const { address: stable } = request.params
      const { interval, format } = request.query
      await requireStable(app, stable)
      const { first, end, next } = await bucketsOf(app, request.query, querySignal(request))
      return sendExport(app, request, reply, {
        format,
        filename: `${name}-${stable}-${interval}-${first}`,
        head: head(stable, interval),
        next,
        rows: (options) => rows(app.clickhouse, { stable, interval: BUCKET_SECONDS[interval], first, end }, options),
      })
    })
  }
}
