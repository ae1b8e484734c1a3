import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../insert-rows.js'

/** An event that changes a stable's supply, or its cap. `amount_raw` is in base units, as a decimal string. */
export type SupplyEvent = {
  kind: 'mint' | 'burn' | 'burn_blocked' | 'cap'
  stable: string
  account: string
  amount_raw: string
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}

/** Adds supply events. Repeating a token changes nothing. */
export function insertSupplyEvents(
  clickhouse: ClickHouseClient,
  rows: readonly SupplyEvent[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'supply_events', rows, token)
}
