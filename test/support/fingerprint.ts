import type { ClickHouseClient } from '@clickhouse/client'
import { factTables } from '../../clickhouse/facts/facts.js'
import { derivedTables } from '../../clickhouse/tables.js'

/**
 * The contents of a database in a comparable form: for every table of facts, and every table that a view fills from them,
 * as merged, the number of rows and the sum of their hashes.
 */
export async function fingerprint(clickhouse: ClickHouseClient): Promise<Record<string, unknown>> {
  const sources = new Map<string, string>([
    ...factTables.map((table) => [table, table] as const),
    ...derivedTables.map((table) => [table, `${table} FINAL`] as const),
  ])
  const contents = await Promise.all(
    [...sources].map(async ([table, source]) => {
      const query = `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS hash FROM ${source}`
      return [table, await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()] as const
    }),
  )
  return Object.fromEntries(contents)
}
