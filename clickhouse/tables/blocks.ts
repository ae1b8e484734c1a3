import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../insert-rows.js'

/** A block that ingest has read. `block_time` is in unix seconds, numbers fit a double. */
export type Block = {
  block_number: number
  block_time: number
  block_hash: string
  parent_hash: string
  tx_count: number
  log_count: number
}

/** Adds blocks whose facts are all in. Repeating a token changes nothing. */
export function insertBlocks(clickhouse: ClickHouseClient, rows: readonly Block[], token: string): Promise<void> {
  return insertRows(clickhouse, 'blocks', rows, token)
}
