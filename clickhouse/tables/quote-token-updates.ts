import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../insert-rows.js'

/** A stable is quoted in another token from this log on. */
export type QuoteTokenUpdate = {
  stable: string
  quote_token: string
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}

/** Adds changes of quote tokens. Repeating a token changes nothing. */
export function insertQuoteTokenUpdates(
  clickhouse: ClickHouseClient,
  rows: readonly QuoteTokenUpdate[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'quote_token_updates', rows, token)
}
