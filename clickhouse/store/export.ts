import { pipeline, type Readable, Transform } from 'node:stream'
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import type { z } from 'zod'
import type { QuerySignal } from './define-query.js'
import { observed } from './observe.js'
import { QueryError } from './query-error.js'
import { prepareRead } from './replicas.js'

/** The export formats by their names in the API, with the engine's names. */
export const EXPORT_FORMATS = {
  json: { engine: 'JSONEachRow', mediaType: 'application/json', extension: 'json' },
  ndjson: { engine: 'JSONEachRow', mediaType: 'application/x-ndjson', extension: 'ndjson' },
  csv: { engine: 'CSVWithNames', mediaType: 'text/csv; charset=utf-8', extension: 'csv' },
  parquet: { engine: 'Parquet', mediaType: 'application/vnd.apache.parquet', extension: 'parquet' },
  arrow: { engine: 'ArrowStream', mediaType: 'application/vnd.apache.arrow.stream', extension: 'arrows' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

/**
 * Passes a result through and fails if the engine failed half-way. The engine then ends the body with `__exception__`,
 * the tag from its header X-ClickHouse-Exception-Tag and an error message, which must not reach the client.
 */
function cutAtException(query: string, tag: string): Transform {
  const marker = Buffer.from(`__exception__\r\n${tag}\r\n`)
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const data = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const at = data.indexOf(marker)
      if (at >= 0) {
        done(new QueryError(query, new Error(data.subarray(at + marker.length).toString())))
        return
      }
      // The marker may begin in this chunk and continue in the next.
      const safe = Math.max(0, data.length - marker.length + 1)
      held = data.subarray(safe)
      done(null, data.subarray(0, safe))
    },
    flush(done) {
      done(null, held)
    },
  })
}

/** SQL: text that anybody may have written, which in CSV is not a formula of a spreadsheet: an apostrophe goes before one. */
export const untrusted = (text: string): string =>
  `if({format: String} = 'csv' AND match(${text}, '^[\\\\s\\\\p{Z}\\\\p{C}]*[=+@\uff1d\uff0b\uff0d\uff20-]'), concat('\\'', ${text}), ${text})`

type Definition<Params extends z.ZodType<Record<string, unknown>>> = { name: string; params: Params; sql: string }

/** How CSV writes null, by the names of the API: as an empty field, or as ClickHouse and PostgreSQL do. */
export const CSV_NULLS = { empty: '', mark: '\\N' } as const
export type CsvNull = keyof typeof CSV_NULLS

/** `csvNull` is only for the format csv. Aborting the signal cancels the query, even half-way. */
export type ExportOptions = { format: ExportFormat; csvNull?: CsvNull; signal: QuerySignal }

/** A read whose rows are passed through as the engine writes them. */
type Export<Params> = (clickhouse: ClickHouseClient, params: Params, options: ExportOptions) => Promise<Readable>

/**
 * A read of any number of rows as a function of a client, its parameters and a format. The rows are bytes from the
 * engine and are never parsed here; a slow reader slows the engine down. The format json is a single array. Rejects
 * with QueryError if the engine refuses the query or fails before its first bytes; after that, the stream fails
 * instead. Exact amounts are texts, as they are in JSON: the chain's have up to 39 digits, and the decimals of most readers
 * of Parquet and Arrow end at 38.
 */
export function defineExport<Params extends z.ZodType<Record<string, unknown>>>({
  name,
  params: Params,
  sql,
}: Definition<Params>): Export<z.input<Params>> {
  return async (clickhouse, params, { format, csvNull = 'mark', signal }) =>
    streamOf(clickhouse, {
      name,
      sql: `${sql}\nFORMAT ${EXPORT_FORMATS[format].engine}`,
      query_params: { ...Params.parse(params), format },
      signal,
      clickhouse_settings: {
        format_csv_null_representation: CSV_NULLS[csvNull],
        output_format_json_array_of_rows: format === 'json' ? 1 : 0,
        // A row group is held in memory until it is complete: this size is small enough to stream and usual for readers.
        output_format_parquet_row_group_size: '122880',
        output_format_parquet_string_as_string: 1,
        output_format_arrow_string_as_string: 1,
      },
    })
}

/**
 * The result of a statement that ends with its FORMAT, as the engine writes it. Rejects with QueryError if the engine
 * refuses the statement or fails before its first bytes; after that, the stream fails instead. Aborting the signal cancels
 * the query, even half-way.
 */
export async function streamOf(
  clickhouse: ClickHouseClient,
  {
    name,
    sql,
    query_params,
    signal,
    clickhouse_settings,
  }: {
    name: string
    sql: string
    query_params: Record<string, unknown>
    signal: QuerySignal
    clickhouse_settings?: ClickHouseSettings
  },
): Promise<Readable> {
  const begin = async () => {
    const { query } = await prepareRead(clickhouse, sql, { signal })
    return clickhouse.exec({
      query,
      query_params,
      abort_signal: signal,
      ...(signal.traceparent && { http_headers: { traceparent: signal.traceparent } }),
      clickhouse_settings: { log_comment: name, ...clickhouse_settings },
    })
  }
  const { stream, response_headers } = await observed(clickhouse, name, begin, signal).catch((cause) => {
    throw new QueryError(name, cause)
  })
  const tag = response_headers['x-clickhouse-exception-tag']
  const rows = cutAtException(name, typeof tag === 'string' ? tag : '')
  // The client itself stops listening to the signal once the response headers have arrived.
  const abort = () => rows.destroy(new QueryError(name, signal.reason))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return pipeline(stream, rows, () => signal.removeEventListener('abort', abort))
}
