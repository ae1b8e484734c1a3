import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../insert-rows.js'

/** A stablecoin as it was created. Genesis tokens have block 0 and an empty transaction hash. */
export type Stablecoin = {
  stable: string
  symbol: string
  name: string
  currency: string
  quote_token: string
  admin: string
  tier: 'listed' | 'unlisted'
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}

/** Adds stablecoins. Repeating a token changes nothing. */
export function insertStablecoins(
  clickhouse: ClickHouseClient,
  rows: readonly Stablecoin[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'stablecoins', rows, token)
}
