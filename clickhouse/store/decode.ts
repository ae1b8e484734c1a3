import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from './define-query.js'
import { EXPORT_FORMATS } from './export.js'
import { QueryError } from './query-error.js'

type Row = Record<string, unknown>

/** The name of a format is part of the statement: it cannot be a parameter. */
const reader = (format: 'csv' | 'parquet' | 'arrow') =>
  defineQuery({
    name: `decode_${format}`,
    params: z.object({ bytes: z.instanceof(Buffer).transform((bytes) => bytes.toString('base64')) }),
    row: z.record(z.string(), z.unknown()),
    sql: `
      SELECT * FROM format(${EXPORT_FORMATS[format].engine}, base64Decode({bytes: String}))
      SETTINGS input_format_csv_use_best_effort_in_schema_inference = 0, output_format_decimal_trailing_zeros = 1`,
  })

const READERS = { csv: reader('csv'), parquet: reader('parquet'), arrow: reader('arrow') }

/** The formats that are decoded. */
type EncodedFormat = keyof typeof READERS

/**
 * The rows of an export, as the engine reads them. Integers of 64 bits and decimals are strings; of a CSV, every cell is a
 * string or null. A server takes about 96 KiB at once, from a client with `sendsLargeParameters`. Rejects with QueryError
 * if the bytes are not of this format.
 */
export async function decodeRows(
  clickhouse: ClickHouseClient,
  { format, bytes }: { format: EncodedFormat; bytes: Buffer },
): Promise<Row[]> {
  // The columns of a CSV cannot be inferred from its header alone.
  if (format === 'csv' && bytes.indexOf('\n') === bytes.length - 1) return []
  try {
    return await READERS[format](clickhouse, { bytes })
  } catch (error) {
    if (isEmpty(error)) return []
    throw error
  }
}

/** The function `format` of ClickHouse 26.7 fails with this where it has read the columns and there are no rows. */
const isEmpty = (error: unknown): boolean =>
  error instanceof QueryError &&
  error.cause instanceof ClickHouseError &&
  error.cause.type === 'NOT_FOUND_COLUMN_IN_BLOCK' &&
  error.cause.message.includes('There are only columns: .')
