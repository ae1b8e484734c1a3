import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { BUCKET_SECONDS, type Interval } from '../../clickhouse/store/buckets.js'
import { CSV_NULLS, type CsvNull, EXPORT_FORMATS, type ExportFormat } from '../../clickhouse/store/export.js'
import { BadParameterError } from '../../process/errors.js'
import { DAY_SECONDS, parseInstant } from '../../process/instants.js'

/** Enough for a year of minutes. */
const MAX_ROWS = 1_000_000

const instant = (description: string, ...examples: string[]) =>
  z
    .string()
    .optional()
    .meta({ description: `${description}; in the formats of \`as_of\``, examples })

/** The bounds of a range of time. */
export const BoundsQuery = {
  from: instant('Start of the range, included; 24 hours before `to` if omitted', '2026-07-01T00:00:00Z', '7d'),
  to: instant('End of the range, not included; now if omitted', '2026-07-02T00:00:00Z', '1h'),
}

const NULLS = Object.keys(CSV_NULLS) as [CsvNull, ...CsvNull[]]

/** The query parameters of every route that answers about a range of time; spread into the route's strict object. */
export const RangeQuery = {
  ...BoundsQuery,
  format: z
    .enum(Object.keys(EXPORT_FORMATS) as [ExportFormat, ...ExportFormat[]])
    .default('json')
    .meta({ description: 'Format of the rows' }),
  // The mark itself is not a value of the enum: not every generator of clients can name it.
  null: z
    .string()
    .transform((text) => (text === CSV_NULLS.mark ? 'mark' : text))
    .pipe(z.enum(NULLS))
    .default('mark')
    .meta({
      enum: NULLS,
      default: 'mark',
      description:
        'How csv writes a value that was not measured: `mark` as `\\N`, `empty`, which suits spreadsheets, as nothing',
    }),
  provenance: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Whether csv begins with a line, after a `#`, that says what the rows are and how complete' }),
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

/** The bounds after validation. */
export type Bounds = Pick<RangeParameters, 'from' | 'to'>

/** A range of time in unix seconds: `from` is included, `to` is not. */
export type Range = { from: number; to: number }

/** The range that a request is about. Throws BadParameterError. */
export function readRange(app: FastifyInstance, query: Bounds): Range {
  const now = app.now()
  const instantOf = (name: 'from' | 'to', text: string) => parseInstant(name, text, now).getTime() / 1000
  const to = query.to === undefined ? Math.floor(now.getTime() / 1000) : instantOf('to', query.to)
  const from = query.from === undefined ? to - DAY_SECONDS : instantOf('from', query.from)
  if (from > to) throw new BadParameterError('from', 'must not be later than to')
  return { from: Math.max(0, from), to: Math.max(0, to) }
}

/** Throws BadParameterError if a request has options that its format does not. */
export function requireOptionsOfFormat({ format, null: csvNull, provenance }: RangeParameters): void {
  if (format === 'csv') return
  if (csvNull !== 'mark') throw new BadParameterError('null', 'is only for format=csv')
  if (provenance !== 'false') throw new BadParameterError('provenance', 'is only for format=csv')
}

/** Rows of an answer that count as one request. */
const ROWS_OF_A_REQUEST = 10_000

/** How many requests an answer of this many rows counts as. */
export const costOfRows = (rows: number): number => 1 + Math.floor(rows / ROWS_OF_A_REQUEST)
