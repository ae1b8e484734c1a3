/**
 * StablecoinDEX: a price is 1 plus a number of ticks of 1/100 000, so one tick is 0.1 bps. Orders rest at multiples of
 * ten ticks, at most 2000 ticks from 1.
 */
const PRICE_SCALE = 100_000n

/** Micro-units of quote that a bid at `tick` pays for `base` micro-units. Rounded down, in favour of the maker. */
export const quoteForBase = (base: bigint, tick: number): bigint => (base * price(tick)) / PRICE_SCALE

/** Micro-units of quote that an ask at `tick` charges for `base` micro-units. Rounded up. */
export const quoteToBuy = (base: bigint, tick: number): bigint => ceilDiv(base * price(tick), PRICE_SCALE)

/** Micro-units of base that an ask at `tick` gives for `quote` micro-units. Rounded down. */
export const baseForQuote = (quote: bigint, tick: number): bigint => (quote * PRICE_SCALE) / price(tick)

/** Micro-units of base that a bid at `tick` requires to pay out `quote` micro-units. Rounded up. */
export const baseToSell = (quote: bigint, tick: number): bigint => ceilDiv(quote * PRICE_SCALE, price(tick))

const price = (tick: number): bigint => PRICE_SCALE + BigInt(tick)
const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
