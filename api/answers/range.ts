import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { BUCKET_SECONDS, type Interval } from '../../clickhouse/store/buckets.js'
import { EXPORT_FORMATS, type ExportFormat } from '../../clickhouse/store/export.js'
import { BadParameterError } from '../../process/errors.js'
import { parseInstant } from '../../process/instants.js'

/** Enough for a year of minutes. */
const MAX_ROWS = 1_000_000

const instant = (description: string) => z.string().meta({ description, examples: ['2026-07-01T00:00:00Z', '7d'] })

/** The query parameters of every route that answers about a range of time; spread into the route's strict object. */
export const RangeQuery = {
  from: instant('Start of the range, included; in the formats of `as_of`'),
  to: instant('End of the range, not included; now if omitted').optional(),
  format: z
    .enum(Object.keys(EXPORT_FORMATS) as [ExportFormat, ...ExportFormat[]])
    .default('json')
    .meta({ description: 'Format of the rows' }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_ROWS, `must be at most ${MAX_ROWS}; continue with the cursor`)
    .default(100_000)
    .meta({ description: 'Maximum number of rows in an answer' }),
}

/** The query parameter of every series. */
export const IntervalQuery = {
  interval: z
    .enum(Object.keys(BUCKET_SECONDS) as [Interval, ...Interval[]])
    .default('1h')
    .meta({
      description: 'Length of the buckets, which are aligned to UTC',
    }),
}

/** Those parameters after validation. */
export type RangeParameters = z.output<z.ZodObject<typeof RangeQuery>>

/** A range of time in unix seconds: `from` is included, `to` is not. */
export type Range = { from: number; to: number }

/** The range that a request is about. Throws BadParameterError. */
export function readRange(app: FastifyInstance, query: Pick<RangeParameters, 'from' | 'to'>): Range {
  const now = app.now()
  const from = parseInstant('from', query.from, now)
  const to = query.to === undefined ? now : parseInstant('to', query.to, now)
  if (from > to) throw new BadParameterError('from', 'must not be later than to')
  return { from: Math.max(0, from.getTime() / 1000), to: Math.max(0, Math.floor(to.getTime() / 1000)) }
}

/** Rows of an answer that count as one request. */
const ROWS_OF_A_REQUEST = 10_000

/** How many requests an answer of this many rows counts as. */
export const costOfRows = (rows: number): number => 1 + Math.floor(rows / ROWS_OF_A_REQUEST)
