/** Where a fact made from a log stands. `block_time` is in unix seconds. */
export type FactPosition = { block_number: number; log_index: number; block_time: number; tx_hash: string }
