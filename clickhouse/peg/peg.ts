/** The stable that prices are quoted in and payments are made in: the chain's own pathUSD. */
export const REFERENCE_STABLE = '0x20c0000000000000000000000000000000000000'

/**
 * How a sample came about. `anchor` is the reference stable, whose price is 1 by definition; every status but `quoted`
 * and `anchor` has no sell price: nobody buys (`no_liquidity`), no order book (`no_pair`), another currency
 * (`not_usd`), its transfers are stopped (`paused`), or an answer of the DEX that is none of these (`failed`).
 */
export type QuoteStatus = 'quoted' | 'anchor' | 'no_liquidity' | 'no_pair' | 'not_usd' | 'paused' | 'failed'

/** One token, in base units of a TIP-20 token (6 decimals); the size that a peg sample quotes. */
export const ONE_TOKEN = 1_000_000n

/** A sample speaks for the time since the block before it, in seconds, but never for more than this. */
export const MAX_SAMPLE_SECONDS = 120
