import type { ClickHouseClient } from '@clickhouse/client'
import { observed } from './observe.js'
import { QueryError } from './query-error.js'

/**
 * Inserts `rows` into `table`, in the order given; resolves when the server has acknowledged all of them. `token`
 * identifies the content: a repeat with the same token, even after a crash half-way, changes neither the table nor the
 * views that read it. The table and the views' targets must each keep a deduplication window. Rejects with QueryError.
 */
export async function insertRows<Row extends object>(
  clickhouse: ClickHouseClient,
  table: string,
  rows: readonly Row[],
  token: string,
): Promise<void> {
  if (rows.length === 0) return
  const log_comment = `insert_${table}`
  const insert = () =>
    clickhouse.insert({
      table,
      values: rows,
      format: 'JSONEachRow',
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
