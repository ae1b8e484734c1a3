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
