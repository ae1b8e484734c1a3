/** What the definitions read of a stored row. Times are in unix seconds, amounts decimal strings of base units. */

/** A stable's price at the end of a block, in millionths of the reference stable; null without a quote. */
export type PegSample = {
  block_number: number
  block_time: number
  elapsed_seconds: number
  status: string
  sell_micros: number | null
  buy_micros: number | null
}

/** What `size_tokens` whole tokens sell for and cost at the end of a block; null without a quote. */
export type DepthSample = {
  size_tokens: number
  block_number: number
  block_time: number
  sell_status: string
  sell_raw: string | null
  buy_status: string
  buy_raw: string | null
}

/** A fill of an order, with the token that the book quotes in. */
export type DexFill = {
  block_number: number
  block_time: number
  maker: string
  taker: string
  quote: string
  base_raw: string
  quote_raw: string
}
