import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Family } from '../../clickhouse/chain/batches.js'
import { chainSpan } from '../../clickhouse/chain/blocks.js'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import type { Emitter } from '../../clickhouse/chain/unknown-events.js'
import type { JobName } from '../../clickhouse/jobs/periods.js'
import { pegSeries } from '../../clickhouse/peg/series.js'
import { riskSeries, riskSpan } from '../../clickhouse/risk/series.js'
import { BUCKET_SECONDS, type BucketPage, bucketPage, type Interval } from '../../clickhouse/store/buckets.js'
import { stableAddress } from '../../clickhouse/store/values.js'
import { supplySeries } from '../../clickhouse/supply/supply.js'
import { isoSeconds } from '../../process/instants.js'
import { CursorQuery } from '../answers/cursor.js'
import { endpoint } from '../answers/endpoint.js'
import { exportResponse } from '../answers/export.js'
import { KnownAtEcho, KnownAtQuery } from '../answers/known-at.js'
import { costOfRows, IntervalQuery, RangeQuery, readRange } from '../answers/range.js'

const SeriesQuery = { ...RangeQuery, ...IntervalQuery, cursor: CursorQuery(z.int().min(0).max(0xffff_ffff)) }

const bucket = {
  bucket_start: z.iso.datetime().meta({ description: 'Start of the bucket, not included' }),
  bucket_end: z.iso.datetime().meta({ description: 'End of the bucket, included' }),
}
const price = z.number().nonnegative().nullable()
const outside = (bps: number) =>
  z
    .int()
    .nonnegative()
    .nullable()
    .meta({ description: `Seconds that the price was more than ${bps} bps from 1.00; null without a price` })
const amount = z.string().regex(/^\d+$/)

const PegBucket = z.object({
  ...bucket,
  open: price.meta({ description: 'The first price in the bucket, in the reference stable; null without one' }),
  high: price.meta({ description: 'The highest price' }),
  low: price.meta({ description: 'The lowest price' }),
  close: price.meta({ description: 'The last price' }),
  mean: price.meta({ description: 'Over the samples with a price' }),
  seconds_outside_10bps: outside(10),
  seconds_outside_50bps: outside(50),
  sample_count: z.int().nonnegative().meta({ description: 'Samples with a price' }),
  unquoted_count: z.int().nonnegative().meta({ description: 'Samples without a price' }),
})

const SupplyBucket = z.object({
  ...bucket,
  supply: amount.nullable().meta({ description: 'Base units at the end of the bucket' }),
  cap: amount.nullable().meta({ description: 'Base units at the end of the bucket; null when there is none' }),
  minted: amount.meta({ description: 'Base units within the bucket' }),
  burned: amount.meta({ description: 'Base units within the bucket' }),
})

const score = z.number().min(0).max(100).nullable()

const RiskBucket = z.object({
  ...bucket,
  composite: score.meta({ description: 'As of the end of the bucket; null before the first snapshot' }),
  peg_risk: score.meta({ description: '0 to 100, as of the end of the bucket' }),
  peg_break_risk: score.meta({ description: '0 to 100, as of the end of the bucket' }),
  supply_risk: score.meta({ description: '0 to 100, as of the end of the bucket' }),
  policy_risk: score.meta({ description: '0 to 100, as of the end of the bucket' }),
  methodology: z.string().nullable().meta({ description: 'Version of the formula' }),
  composite_min: score.meta({ description: 'The lowest of the snapshots in the bucket; null without one' }),
  composite_max: score.meta({ description: 'The highest of the snapshots in the bucket; null without one' }),
  revision: z.int().nullable().meta({ description: 'Revision of the snapshot; null before the first' }),
  published_at: z.iso.datetime().nullable().meta({ description: 'When that snapshot was published' }),
  snapshot_count: z.int().nonnegative().meta({ description: 'Snapshots in the bucket' }),
  extended: score.meta({
    description: 'The extended score that was computed with composite; null before the first snapshot',
  }),
  extended_version: z.string().nullable().meta({ description: 'Version of its formula' }),
})

type SpanOf = (app: FastifyInstance, about: About, signal: AbortSignal) => Promise<Span | null>
/** `known_at` is null in a series of facts. */
type About = { stable: string; known_at: Date | null }
type Span = { oldest: number; newest: number }

const spanOfChain: SpanOf = (app, _, signal) => chainSpan(app.clickhouse, { signal })

/** Snapshots are taken at whole seconds, once each, so a bucket is complete with the snapshot at its very end. */
const spanOfRisk: SpanOf = async (app, about, signal) => {
  const span = await riskSpan(app.clickhouse, about, { signal })
  return span && { ...span, newest: span.newest + 1 }
}

const Head = {
  address: stableAddress,
  coverage: Coverage,
  interval: z
    .enum(Object.keys(BUCKET_SECONDS) as [Interval, ...Interval[]])
    .meta({ description: 'Length of the buckets' }),
}

const NO_BUCKETS: BucketPage = { first: 0, end: 0, count: 0, next: null }

type Series = {
  name: string
  tag: string
  operationId: string
  summary: string
  rows: typeof pegSeries | typeof supplySeries | typeof riskSeries
  spanOf: SpanOf
  Row: z.ZodObject
  families: readonly Family[]
  /** On whose events it rests, if logs are among the families. */
  logsOf?: readonly Emitter[]
  /** The jobs that compute its rows. */
  jobs?: readonly JobName[]
  /** Further parameters. */
  query?: typeof KnownAtQuery
}

/** A route with the history of a stable's `name`, in contiguous buckets of equal length. */
const series = ({ name, rows, spanOf, Row, query, families, logsOf = [], jobs = [], ...described }: Series) =>
  endpoint({
    ...described,
    path: `/stablecoins/:address/${name}/series`,
    description:
      'Buckets of equal length without gaps, aligned to UTC, oldest first; a page has at most limit of them.',
    about: 'range',
    query: { ...SeriesQuery, ...query },
    response: exportResponse({ ...Head, ...(query && { known_at: KnownAtEcho }) }, Row),
    cost: ({ app, query }) => {
      const { from, to } = readRange(app, query)
      return costOfRows(Math.min(query.limit, (to - from) / BUCKET_SECONDS[query.interval]))
    },
    covers: ({ stable, since, range: { from, to } }) => ({
      families,
      logsOf,
      jobs,
      stable,
      since,
      from,
      to: Math.max(from, to - 1),
    }),
    answer: async ({ app, stable, range, knownAt: known_at, query: { interval, limit, cursor: after }, signal }) => {
      const span = await spanOf(app, { stable, known_at }, signal)
      // No buckets before there is any data.
      const { first, end, next } = span ? bucketPage({ interval, limit, after, ...range, ...span }) : NO_BUCKETS
      return {
        filename: `${name}-${stable}-${interval}-${first}`,
        head: { address: stable, interval, ...(known_at && { known_at: isoSeconds(known_at) }) },
        next,
        rows: (options) =>
          rows(app.clickhouse, { stable, interval: BUCKET_SECONDS[interval], first, end, known_at }, options),
      }
    },
  })

export const pegSeriesRoute = series({
  name: 'peg',
  tag: 'peg',
  operationId: 'getPegSeries',
  summary: 'Price against the reference stable by bucket',
  rows: pegSeries,
  families: ['pegs'],
  spanOf: spanOfChain,
  Row: PegBucket,
})

export const supplySeriesRoute = series({
  name: 'supply',
  tag: 'stablecoins',
  operationId: 'getSupplySeries',
  summary: 'Supply and cap by bucket',
  rows: supplySeries,
  families: ['logs', 'state'],
  logsOf: ['token'],
  spanOf: spanOfChain,
  Row: SupplyBucket,
})

export const riskSeriesRoute = series({
  name: 'risk',
  tag: 'risk',
  operationId: 'getRiskSeries',
  summary: 'Risk by bucket',
  rows: riskSeries,
  families: ['pegs', 'state', 'logs'],
  logsOf: ['token', 'policies'],
  jobs: ['risk'],
  spanOf: spanOfRisk,
  Row: RiskBucket,
  query: KnownAtQuery,
})
