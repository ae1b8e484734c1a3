import type { ClickHouseClient } from '@clickhouse/client'
import { QueryError } from '../store/query-error.js'
import { FACT_TABLES, type FactTable, factTables } from './facts.js'

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
