import type { ClickHouseClient } from '@clickhouse/client'
import { ECONOMY_TABLES, type EconomyFacts, type Raw } from '../../../ingest/verify/definitions/rows.js'

/** Reads all of these rows. */
export async function economyFacts(clickhouse: ClickHouseClient): Promise<EconomyFacts> {
  const tables = ECONOMY_TABLES.map(async (table) => {
    const answer = await clickhouse.query({
      query: `SELECT * REPLACE (toUInt32(block_number) AS block_number), toUnixTimestamp(block_time) AS at FROM ${table}`,
      format: 'JSONEachRow',
    })
    const rows = await answer.json<Raw>()
    return [table, rows.sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index)] as const
  })
  return Object.fromEntries(await Promise.all(tables)) as EconomyFacts
}
