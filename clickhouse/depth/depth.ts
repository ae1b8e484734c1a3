import type { QuoteStatus } from '../peg/peg.js'

/** One side of the book at a size: what was quoted for all of it, in base units; null without a quote. */
type Quote = { status: QuoteStatus; raw: string | null; size_tokens: number; one_token_micros: number | null }

export type DepthQuote = {
  status: QuoteStatus
  amount: string | null
  price: number | null
  slippage_bps: number | null
}

/**
 * The average price of a token at a size, and how much worse it is than that of a single token, in basis
 * points: less got when selling, more paid when buying; negative when better. Null where a quote is missing.
 */
export function depthQuote(side: 'sell' | 'buy', { status, raw, size_tokens, one_token_micros }: Quote): DepthQuote {
  if (raw === null) return { status, amount: null, price: null, slippage_bps: null }
  const price = Number(raw) / (size_tokens * 1e6)
  if (one_token_micros === null || one_token_micros === 0) return { status, amount: raw, price, slippage_bps: null }
  // In integers until the last division: the difference of two near prices keeps few digits.
  const whole = BigInt(one_token_micros) * BigInt(size_tokens)
  const worse = side === 'sell' ? whole - BigInt(raw) : BigInt(raw) - whole
  return { status, amount: raw, price, slippage_bps: (Number(worse) * 10_000) / Number(whole) }
}
