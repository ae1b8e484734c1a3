import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import { TABLES } from '../tables.js'
import { type Facts, type FactTable, factTables } from './facts.js'

/**
 * Removes the facts of all blocks from `from_block` on, none of which is older than `from_time` in unix seconds. The
 * next read no longer sees them. Safe to repeat, and must be repeated if it fails. Blocks are removed first, so that no
 * block remains without its facts. Rejects with QueryError.
 */
export async function removeFacts(
  clickhouse: ClickHouseClient,
  query_params: { from_block: number; from_time: number },
): Promise<void> {
  const remove = async (table: FactTable): Promise<void> => {
    const byTime = TABLES[table].isPartitioned ? 'AND block_time >= {from_time: UInt32}' : ''
    const query = `DELETE FROM ${table} WHERE block_number >= {from_block: UInt64} ${byTime}`
    await clickhouse.command({ query, query_params }).catch((cause) => {
      throw new QueryError(`remove facts from ${table}`, cause)
    })
  }
  await remove('blocks')
  await Promise.all(factTables.filter((table) => table !== 'blocks').map(remove))
}

/** The name of the temporary table whose facts are compared with those of `table`. */
export const rereadTable = (table: FactTable): string => `reread_${table}`

/**
 * Replaces the contents of the temporary tables, which have the columns of the fact tables, with the facts of `tables`. The client
 * must have a session: the tables belong to it and disappear with it.
 */
export async function replaceRereadFacts(
  clickhouse: ClickHouseClient,
  facts: Facts,
  tables: readonly FactTable[] = factTables,
): Promise<void> {
  for (const table of tables) {
    const query = `CREATE OR REPLACE TEMPORARY TABLE ${rereadTable(table)} ENGINE = Memory AS SELECT * FROM ${table} LIMIT 0`
    try {
      await clickhouse.command({ query })
    } catch (cause) {
      throw new QueryError(`create ${rereadTable(table)}`, cause)
    }
    await insertRows<object>(clickhouse, rereadTable(table), facts[table], randomUUID())
  }
}
