import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import { type Facts, type FactTable, factTables } from './facts.js'

/** The name of the temporary table that facts of `table` are put into to be compared with it. */
export const rereadTable = (table: FactTable): string => `reread_${table}`

/**
 * Puts facts into temporary tables with the columns of the tables of facts, in place of what was there. They belong to
 * the client's session, which it needs to have, and are gone with it.
 */
export async function replaceRereadFacts(clickhouse: ClickHouseClient, facts: Facts): Promise<void> {
  for (const table of factTables) {
    const query = `CREATE OR REPLACE TEMPORARY TABLE ${rereadTable(table)} ENGINE = Memory AS SELECT * FROM ${table} LIMIT 0`
    try {
      await clickhouse.command({ query })
    } catch (cause) {
      throw new QueryError(`create ${rereadTable(table)}`, cause)
    }
    await insertRows<object>(clickhouse, rereadTable(table), facts[table], randomUUID())
  }
}
