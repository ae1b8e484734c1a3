import type { QuoteStatus } from './peg.js'

/** A sample as stored: prices of one token in millionths of the reference stable, null without a quote. */
export type StoredSample = {
  block_number: number
  block_time: Date
  status: QuoteStatus
  sell_micros: number | null
  buy_micros: number | null
}

/** A price as published. */
export type PegPrice = {
  price_vs_refusd: number
  spread_bps: number
  buy_price: number | null
  block_number: number
  sampled_at: string
}

/** The time of a sample as published. */
export const sampledAt = (block_time: Date): string => `${block_time.toISOString().slice(0, 19).replace('T', ' ')}+00`

/** The price that a sample measured: what one token sells for, and how far that is from 1; null without a quote. */
export function pegPrice({ block_number, block_time, sell_micros, buy_micros }: StoredSample): PegPrice | null {
  if (sell_micros === null) return null
  return {
    price_vs_refusd: sell_micros / 1e6,
    spread_bps: Math.abs(sell_micros - 1_000_000) / 100,
    buy_price: buy_micros === null ? null : buy_micros / 1e6,
    block_number,
    sampled_at: sampledAt(block_time),
  }
}

/** Whether a stable whose newest sample has this status is still worth its last price. */
export const keepsItsPrice = (status: QuoteStatus): boolean => status !== 'not_usd' && status !== 'no_pair'
