/** A stable as the list of stables has it, as far as the board uses it. */
export type ListedStable = {
  address: string
  symbol: string
  name: string
  peg: { price: number; spread_bps: number; quoted: boolean; sampled_at: string } | null
  supply: { current: string; cap: string | null } | null
  quote: { quoted: boolean; unquoted_since: string | null } | null
  coverage: { status: 'complete' | 'partial' | 'unavailable'; message: string }
  max_deviation_24h_bps?: number | null
  risk_score?: number | null
}

/** Signed distance from the peg in basis points; null without a quote. A price is rounded to millionths of a unit. */
export const deviationOf = (price: number | null): number | null =>
  price === null ? null : Math.round((price - 1) * 1e6) / 100
