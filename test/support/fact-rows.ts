import type { ClickHouseClient } from '@clickhouse/client'
import type { FactTable } from '../../clickhouse/facts/facts.js'

/** The rows of a facts table without their times, in log order, of the given transactions or of all. */
export async function factRows(
  clickhouse: ClickHouseClient,
  table: FactTable,
  hashes?: readonly string[],
): Promise<Array<Record<string, unknown>>> {
  const answer = await clickhouse.query({
    query: `SELECT * EXCEPT (block_time) REPLACE (toUInt32(block_number) AS block_number)
            FROM ${table} ${hashes ? 'WHERE tx_hash IN {hashes: Array(String)}' : ''} ORDER BY ${table}.block_number, log_index`,
    ...(hashes && { query_params: { hashes } }),
    format: 'JSONEachRow',
  })
  return answer.json()
}
