import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import { FACT_TABLES, type Facts, type FactTable, factTables } from './facts.js'

/**
 * Removes the facts of all blocks from `from_block` on, none of which is older than `from_time` in unix seconds. They
 * are gone for the next read. May be repeated, and is to be repeated when it fails: the blocks go first, so that no
 * block is there without its facts. Rejects with QueryError.
 */
export async function removeFacts(
  clickhouse: ClickHouseClient,
  query_params: { from_block: number; from_time: number },
): Promise<void> {
  const remove = async (table: FactTable): Promise<void> => {
    const byTime = FACT_TABLES[table].findBy === 'time' ? 'AND block_time >= {from_time: UInt32}' : ''
    const query = `DELETE FROM ${table} WHERE block_number >= {from_block: UInt64} ${byTime}`
    await clickhouse.command({ query, query_params }).catch((cause) => {
      throw new QueryError(`remove facts from ${table}`, cause)
    })
  }
  await remove('blocks')
  await Promise.all(factTables.filter((table) => table !== 'blocks').map(remove))
}

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
