import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { chainSpan } from '../../clickhouse/chain/blocks.js'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { BUCKET_SECONDS, bucketPage, type Interval } from '../../clickhouse/store/buckets.js'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { BadParameterError } from '../../process/errors.js'
import { isoSeconds } from '../../process/instants.js'
import { BoundsQuery, readRange } from './range.js'

/** Most buckets of an answer: a day of minutes, a week of five minutes. */
const MOST_BUCKETS = 2_500
/** Most buckets of all stables in an answer together. */
const MOST_CELLS = 200_000

/** The query parameters of every series in columns. */
export const ColumnsQuery = {
  ...BoundsQuery,
  step: z
    .enum(Object.keys(BUCKET_SECONDS) as [Interval, ...Interval[]])
    .default('5m')
    .meta({ description: 'Length of the buckets, which are aligned to UTC' }),
}
type Columns = z.output<z.ZodObject<typeof ColumnsQuery>>

/** The fields of every series in columns, beside the columns. */
export const ColumnsHead = {
  from: z.iso.datetime().meta({ description: 'Start of the first bucket, not included' }),
  to: z.iso.datetime().meta({ description: 'End of the last bucket, included' }),
  step_seconds: z.int().meta({ description: 'Length of the buckets' }),
  bucket_count: z.int().nonnegative().meta({
    description: 'How many values each column has, oldest first. Only buckets that have ended are in the answer',
  }),
  coverage: Coverage,
}

/** A column of values that may be null. */
export const column = <Value extends z.ZodType>(value: Value, description: string) =>
  z.array(value.nullable()).meta({ description })

/** The range of a request. Throws BadParameterError if it has too many buckets. */
export function rangeOf(
  app: FastifyInstance,
  query: Columns,
  stables = 1,
): { from: number; to: number; buckets: number } {
  const { from, to } = readRange(app, query)
  const buckets = Math.ceil((to - from) / BUCKET_SECONDS[query.step])
  const most = Math.min(MOST_BUCKETS, Math.floor(MOST_CELLS / Math.max(stables, 1)))
  if (buckets > most)
    throw new BadParameterError(
      'step',
      `must give at most ${most} buckets${stables > 1 ? ` for ${stables} stables` : ''}, not ${buckets}: ask for a shorter range or a longer step`,
    )
  return { from, to, buckets }
}

/** The seconds that a range is about, both included. */
export const covered = ({ from, to }: { from: number; to: number }) => ({ from, to: Math.max(from, to - 1) })
const iso = (seconds: number): string => isoSeconds(new Date(seconds * 1000))

/** The buckets of a request that have ended, as its queries take them, and as the answer says. */
export async function bucketsOf(app: FastifyInstance, query: Columns, signal: QuerySignal, stables?: number) {
  const range = rangeOf(app, query, stables)
  const interval = BUCKET_SECONDS[query.step]
  const span = await chainSpan(app.clickhouse, { signal })
  const { first, end, count } = span
    ? bucketPage({ interval: query.step, limit: MOST_BUCKETS, ...range, ...span })
    : { first: range.from, end: range.from, count: 0 }
  return {
    buckets: { interval, first, end },
    head: { from: iso(first), to: iso(end), step_seconds: interval, bucket_count: count },
  }
}
