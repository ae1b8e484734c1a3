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
