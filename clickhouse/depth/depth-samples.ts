import type { QuoteStatus } from '../peg/peg.js'

/**
 * What `size_tokens` whole tokens sell for and cost in base units of the reference stable at the end of a block, as
 * decimal strings; null without a quote.
 */
export type DepthSample = {
  stable: string
  size_tokens: number
  block_number: number
  block_time: number
  sell_status: QuoteStatus
  sell_raw: string | null
  buy_status: QuoteStatus
  buy_raw: string | null
}
