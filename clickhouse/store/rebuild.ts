import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineRow, onlyColumn } from './define-query.js'
import { QueryError } from './query-error.js'

const databaseName = defineRow({
  name: 'database_name',
  row: onlyColumn('name', z.string()),
  sql: 'SELECT currentDatabase() AS name',
})

/**
 * Runs the statements that delete a range of a table's rows and insert them again, one after another. Safe to repeat, and
 * must be repeated if it fails, because rows may be missing then. The statements of a range have one query id, with the name
 * of the database, as ids are the server's: one that still runs after its connection was lost makes the server refuse the
 * repeat, with a retryable error, so that sums are not inserted twice. Rejects with QueryError.
 */
export async function rebuildRange(
  clickhouse: ClickHouseClient,
  table: string,
  range: { first: number; last: number },
  statements: readonly string[],
): Promise<void> {
  const database = await databaseName(clickhouse)
  const query_id = `rebuild_${database}.${table}:${range.first}-${range.last}`
  for (const query of statements) {
    // Deduplication must not mistake an insert for that of an earlier rebuild of the same range.
    const clickhouse_settings = { insert_deduplicate: 0 as const }
    await clickhouse.command({ query, query_id, query_params: range, clickhouse_settings }).catch((cause) => {
      throw new QueryError(`rebuild ${table}`, cause)
    })
  }
}
