import { z } from 'zod'
import { UNQUOTED } from '../hysteresis.js'
import { DEPTH_SIZES } from '../price.js'

/** The sizes that prices are sampled for, in whole tokens. */
export const SIZES = [1, ...DEPTH_SIZES] as const
type Size = (typeof SIZES)[number]

/** What a token sells for, or the middle of that and of what it costs, which is the former alone where nobody sells. */
export const PriceSide = z.enum(['bid', 'mid'])
type PriceSide = z.infer<typeof PriceSide>

/** The price of a token if so many are traded at once, as far as that of another size agrees; null: whether or not. */
export type PriceOf = { price: PriceSide; size_tokens: Size; agree_tokens: Size | null }

/** Larger sizes are sampled every minute or five: a sample speaks for the time up to the next, and a little more. */
export const MAX_DEPTH_SECONDS = 330

/** The samples that `which`, a condition, chooses, from so many seconds before the range. */
const inRange = (which: string, earlier = 0): string =>
  `${which} AND block_time > toDateTime(greatest({from: UInt32}, ${earlier}) - ${earlier}, 'UTC') AND block_time <= toDateTime({to: UInt32}, 'UTC')`

/** The distance of a price from 1 in millionths, halves to even, of columns with what so many tokens sell for and cost. */
function distance({ price, size, suffix }: { price: PriceSide; size: number; suffix: 'micros' | 'raw' }): string {
  const [sell, buy] = [`sell_${suffix}`, `buy_${suffix}`]
  const sum = price === 'bid' ? `2 * ${sell}` : `${sell} + ifNull(${buy}, ${sell})`
  return `toInt32(ifNull(round((${sum}) / ${2 * size}) - 1000000, ${UNQUOTED})) AS distance`
}

const oneToken = (price: PriceSide, which: string): string => `
  SELECT stable, block_time, block_number, ${distance({ price, size: 1, suffix: 'micros' })}
  FROM peg_samples WHERE ${inRange(which)}`

const larger = (price: PriceSide, which: string, size: number, earlier?: number): string => `
  SELECT stable, block_time, block_number, ${distance({ price, size, suffix: 'raw' })}
  FROM depth_samples WHERE ${inRange(which, earlier)} AND depth_samples.size_tokens = ${size}`

/**
 * Each price with the newest one of another size, if that is quoted and not too old: of the two distances the smaller one
 * counts, and none if one is above the peg and the other below.
 */
const agreed = (prices: string, others: string): string => `
  SELECT prices.stable AS stable, prices.block_time AS block_time, prices.block_number AS block_number,
         multiIf(other.time = 0 OR toUnixTimestamp(prices.block_time) - other.time > ${MAX_DEPTH_SECONDS}, prices.distance,
                 ${UNQUOTED} IN (prices.distance, other.distance), prices.distance,
                 sign(prices.distance) * sign(other.distance) < 0, 0,
                 abs(other.distance) < abs(prices.distance), other.distance,
                 prices.distance) AS distance
  FROM (${prices}) AS prices
  ASOF LEFT JOIN (SELECT stable, block_number, distance, toUnixTimestamp(block_time) AS time FROM (${others})) AS other
  ON prices.stable = other.stable AND prices.block_number >= other.block_number`

/**
 * A subquery for the prices of the stables that `which`, a condition, chooses, after the time of the parameter `from` up to and
 * including that of `to`, in unix seconds: `stable`, `block_time`, `block_number`, and `distance`, from 1 in millionths, or
 * UNQUOTED. Each is the same whatever the range is.
 */
export function pricesSql({ price, size_tokens, agree_tokens }: PriceOf, which: string): string {
  const prices = size_tokens === 1 ? oneToken(price, which) : larger(price, which, size_tokens)
  return agree_tokens === null ? prices : agreed(prices, larger(price, which, agree_tokens, MAX_DEPTH_SECONDS))
}
