import type { ClickHouseClient } from '@clickhouse/client'
import { ECONOMY_TABLES, type EconomyFacts, type Raw, type RecordedList } from '../../../oracle/rows.js'

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
  const lists = await clickhouse.query({
    query: `SELECT * REPLACE (toUInt32(sequence_number) AS sequence_number, toUnixTimestamp(holds_from) AS holds_from)
            FROM token_lists ORDER BY token_lists.sequence_number`,
    format: 'JSONEachRow',
  })
  return {
    ...Object.fromEntries(await Promise.all(tables)),
    token_lists: await lists.json<RecordedList>(),
  } as EconomyFacts
}
