import { z } from 'zod'

/** The stable in which prices are quoted and payments are made: the chain's own pathUSD. */
export const REFERENCE_STABLE = '0x20c0000000000000000000000000000000000000'

/**
 * The result of sampling a price. `quoted`: the DEX gave a sell price. `anchor`: the reference stable, whose price is 1
 * by definition. All others have no sell price: no buyer (`no_liquidity`), no order book (`no_pair`), another currency
 * (`not_usd`), transfers are paused (`paused`), the DEX gave any other answer (`failed`) or one that no book allows
 * (`out_of_range`), or it was not asked, because too many books lie between (`too_deep`).
 */
export const QuoteStatus = z.enum([
  'quoted',
  'anchor',
  'no_liquidity',
  'no_pair',
  'not_usd',
  'paused',
  'failed',
  'out_of_range',
  'too_deep',
])
export type QuoteStatus = z.infer<typeof QuoteStatus>

/** Without a price, these do not say whether anybody would buy: the exchange was not asked, or its answer means nothing. */
export const INCONCLUSIVE: readonly QuoteStatus[] = ['failed', 'out_of_range', 'too_deep']

/** The sizes at which depth is sampled every minute or five, in whole tokens; that of one token is sampled at every block. */
export const DEPTH_SIZES = [1_000, 10_000, 100_000, 1_000_000] as const

/** One token, in base units of a TIP-20 token (6 decimals); the size that a peg sample quotes. */
export const ONE_TOKEN = 1_000_000n

/**
 * Whether `got` base units for `size` are a price: from a half to twice. The exchange bounds prices to 0.98..1.02 in each
 * book, so anything else is an error of somebody. So a sample's distance from 1 is at most 10^6 millionths and its square
 * 10^12; seven days of two samples a second sum up to 1.3 x 10^18 at most, a seventh of what an Int64 holds.
 */
export const isPrice = (got: bigint, size: bigint): boolean => got * 2n >= size && got <= size * 2n

/** A sample represents the time since the previous block, in seconds, but never more than this. */
export const MAX_SAMPLE_SECONDS = 120

/** A sample as stored: prices of one token in millionths of the reference stable, null without a quote. */
export type StoredSample = {
  block_number: number
  block_time: Date
  status: QuoteStatus
  sell_micros: number | null
  buy_micros: number | null
}

/** A price as published. `quoted`: one token can be sold at the instant that the answer is about; null: that is not known. */
export type PegPrice = {
  price_vs_refusd: number
  spread_bps: number
  buy_price: number | null
  /** Halfway between both, and how far they are apart in basis points of 1; null if nobody sells. */
  mid_price: number | null
  bid_ask_bps: number | null
  block_number: number
  sampled_at: string
  quoted: boolean | null
  price_age_seconds: number
}

/** The time of a sample as published. */
export const sampledAt = (block_time: Date): string => `${block_time.toISOString().slice(0, 19).replace('T', ' ')}+00`

/**
 * The price of a sample: what one token sells for, and how far that is from 1; null without a quote. `at` is the instant
 * that the answer is about, and `quotedNow` whether there is a quote then, null if that is not known. `spread_bps` is not the
 * distance between bid and ask.
 */
export function pegPrice(
  { block_number, block_time, sell_micros, buy_micros }: StoredSample,
  { at, quotedNow }: { at: Date; quotedNow: boolean | null },
): PegPrice | null {
  if (sell_micros === null) return null
  return {
    price_vs_refusd: sell_micros / 1e6,
    spread_bps: Math.abs(sell_micros - 1_000_000) / 100,
    buy_price: buy_micros === null ? null : buy_micros / 1e6,
    mid_price: buy_micros === null ? null : (sell_micros + buy_micros) / 2e6,
    bid_ask_bps: buy_micros === null ? null : (buy_micros - sell_micros) / 100,
    block_number,
    sampled_at: sampledAt(block_time),
    quoted: quotedNow,
    // The clock of the chain may be ahead of ours.
    price_age_seconds: Math.max(Math.floor((at.getTime() - block_time.getTime()) / 1000), 0),
  }
}

/** Whether a sample of `block_time` still says whether there is a quote at `at`: not if it is older than it speaks for. */
export const speaksFor = (block_time: Date, at: Date): boolean =>
  at.getTime() - block_time.getTime() <= MAX_SAMPLE_SECONDS * 1000

/** Whether a stable's last price remains its current one if its newest sample has this status. */
export const keepsItsPrice = (status: QuoteStatus): boolean =>
  !['not_usd', 'no_pair', 'out_of_range', 'too_deep'].includes(status)
