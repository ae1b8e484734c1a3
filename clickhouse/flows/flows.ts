/**
 * A movement of value from one stable to another, or with `bridge` between this chain and `remote_chain`, where the token
 * is '' on the other chain's side. Amounts are base units as decimal strings.
 */
export type Flow = {
  kind: 'swap' | 'transfer' | 'bridge'
  from_token: string
  to_token: string
  account: string
  amount_in_raw: string
  amount_out_raw: string
  usd_micros: string | null
  path: string[]
  remote_chain: string | null
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}
