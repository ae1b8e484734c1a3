/** An order as placed on the DEX. `quote` is the quote token of `base` at that moment. Integers are decimal strings. */
export type DexOrder = {
  order_id: string
  maker: string
  base: string
  quote: string
  is_bid: boolean
  tick: number
  amount_raw: string
  is_flip: boolean
  flip_tick: number
  block_number: number
  log_index: number
  block_time: number
  tx_hash: string
}
