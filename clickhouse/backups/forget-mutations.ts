import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'
import { tableName } from './manifest.js'

const mutatedPartitions = defineQuery({
  name: 'mutated_partitions',
  params: z.object({ database: z.string() }),
  row: z.object({ name: z.string(), partition_id: z.string() }),
  sql: `
    SELECT DISTINCT table AS name, partition_id FROM system.parts
    WHERE database = {database: String} AND active AND data_version > max_block_number AND NOT startsWith(table, '.')
    ORDER BY name, partition_id`,
})

/**
 * Has the parts of a database that was just restored take part in deletions again. A part keeps the number of the last
 * mutation that it has seen, while RESTORE lets the table begin to count anew: until it comes to that number, DELETE
 * leaves the part as it is, without a word. A partition that is replaced by itself is numbered anew, and nothing is
 * copied. Rejects with QueryError.
 */
export async function forgetMutations(clickhouse: ClickHouseClient, database: string): Promise<void> {
  for (const { name, partition_id } of await mutatedPartitions(clickhouse, { database })) {
    const table = tableName(database, name)
    const query = `ALTER TABLE ${table} REPLACE PARTITION ID {partition_id: String} FROM ${table}`
    await clickhouse.command({ query, query_params: { partition_id } }).catch((cause) => {
      throw new QueryError(query, cause)
    })
  }
}
