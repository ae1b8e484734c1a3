// The exchange's arithmetic. Tempo stablecoin DEX: PRICE_SCALE = 100 000, an order's price is 1 + tick / 100 000 quote
// tokens per base token, and every division rounds in favour of the maker. Amounts are in base units of their token.

export const PRICE_SCALE = 100_000n

/** The largest amount that the exchange can express: amounts are of 128 bits. */
export const MOST_AMOUNT = 2n ** 128n - 1n

const dividedUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** The price of a tick, in quote tokens per 100 000 base tokens. */
export const priceOf = (tick: number): bigint => PRICE_SCALE + BigInt(tick)

/** The quote that a bid pays for `base`, rounded down. */
export const paidByBid = (base: bigint, price: bigint): bigint => (base * price) / PRICE_SCALE

/** The quote that an ask charges for `base`, rounded up. */
export const chargedByAsk = (base: bigint, price: bigint): bigint => dividedUp(base * price, PRICE_SCALE)

/** The base that must be sold to a bid so that it pays `quote`, rounded up. */
export const takenByBid = (quote: bigint, price: bigint): bigint => dividedUp(quote * PRICE_SCALE, price)

/** The base that an ask gives for `quote`, rounded down. */
export const givenByAsk = (quote: bigint, price: bigint): bigint => (quote * PRICE_SCALE) / price
