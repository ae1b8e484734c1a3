import type { ClickHouseClient } from '@clickhouse/client'
import { observed } from './observe.js'
import { QueryError } from './query-error.js'

/**
 * Rows as arrays with the names of their columns once, which are half as long; null where the rows differ in their
 * columns, as one that is left out has its default value.
 */
function compact(rows: readonly object[]): { columns: [string, ...string[]]; values: unknown[] } | null {
  const columns = Object.keys(rows[0] ?? {})
  const values: unknown[] = []
  for (const row of rows as readonly Record<string, unknown>[]) {
    const own = columns.map((column) => row[column])
    if (Object.keys(row).length !== columns.length || own.includes(undefined)) return null
    values.push(own)
  }
  return { columns: columns as [string, ...string[]], values }
}

/**
 * Inserts `rows` into `table`, in the order given; resolves when the server has acknowledged all of them. `token`
 * identifies the content: a repeat with the same token, even after a crash half-way, changes neither the table nor the
 * views that read it. The table and the views' targets must each keep a deduplication window. With `isMany`, every field
 * of a row must be a column of the table, and the rows are sent in half as many bytes; otherwise other fields are left out.
 * Rejects with QueryError.
 */
export async function insertRows<Row extends object>(
  clickhouse: ClickHouseClient,
  table: string,
  rows: readonly Row[],
  token: string,
  { isMany = false }: { isMany?: boolean } = {},
): Promise<void> {
  if (rows.length === 0) return
  const log_comment = `insert_${table}`
  const compacted = isMany ? compact(rows) : null
  const insert = () =>
    clickhouse.insert<unknown>({
      table,
      ...(compacted
        ? { ...compacted, format: 'JSONCompactEachRow' as const }
        : { values: rows, format: 'JSONEachRow' as const }),
      clickhouse_settings: {
        insert_deduplicate: 1,
        insert_deduplication_token: `${table}:${token}`,
        deduplicate_blocks_in_dependent_materialized_views: 1,
        // One insert is one block, which has one token and creates one part per partition. A server-side queue, or a
        // split by rows or bytes, would create several.
        async_insert: 0,
        min_insert_block_size_rows: '4294967295',
        min_insert_block_size_bytes: '0',
        input_format_parallel_parsing: 0,
        log_comment,
      },
    })
  await observed(clickhouse, log_comment, insert).catch((cause) => {
    throw new QueryError(`insert into ${table}`, cause)
  })
}
