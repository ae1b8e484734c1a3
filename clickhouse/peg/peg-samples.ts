import type { QuoteStatus } from './peg.js'

/** What one token sells and buys for at the end of a block, in 1e-6 of the reference stable; null without a quote. */
export type PegSample = {
  stable: string
  block_number: number
  block_time: number
  elapsed_seconds: number
  status: QuoteStatus
  sell_micros: number | null
  buy_micros: number | null
}
