/** A movement of value from one stable to another. Amounts are base units as decimal strings. */
export type Flow = {
  kind: 'swap' | 'transfer' | 'bridge'
  from_token: string
  to_token: string
  account: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  path: string[]
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}
