/** A block that ingest has read. `block_time` is in unix seconds, numbers fit a double. */
export type Block = {
  block_number: number
  block_time: number
  block_hash: string
  parent_hash: string
  tx_count: number
  log_count: number
}
