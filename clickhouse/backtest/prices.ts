import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { UNQUOTED } from '../peg/hysteresis.js'
import { DEVIATION } from '../peg/sums.js'
import { defineQuery, onlyColumn } from '../store/define-query.js'
import { streamOf } from '../store/export.js'

/** The sizes that prices are sampled for, in whole tokens: one at every block, the others every minute or five. */
export const SIZES = [1, 1_000, 10_000, 100_000, 1_000_000] as const
type Size = (typeof SIZES)[number]

/** A stretch of time in unix seconds: after `from`, up to and including `to`. */
export type Range = { from: number; to: number }

/** The stables that had a price of their own in a range, by address. The reference stable has none: it is 1 by definition. */
export const pricedStables = defineQuery({
  name: 'priced_stables',
  params: z.object({ from: z.int(), to: z.int() }),
  row: onlyColumn('stable', z.string()),
  sql: `
    SELECT DISTINCT toString(stable) AS stable FROM peg_samples
    WHERE block_time > toDateTime({from: UInt32}, 'UTC') AND block_time <= toDateTime({to: UInt32}, 'UTC') AND status = 'quoted'
    ORDER BY stable`,
})

const IN_RANGE = `stable = {stable: String} AND block_time > toDateTime({from: UInt32}, 'UTC') AND block_time <= toDateTime({to: UInt32}, 'UTC')`

const ONE_TOKEN = `
  SELECT block_time, block_number, toInt32(ifNull(${DEVIATION}, ${UNQUOTED})) AS distance
  FROM peg_samples WHERE ${IN_RANGE}`

const larger = (size: 'size_tokens' | 'agree_tokens') => `
  SELECT block_time, block_number, toInt32(ifNull(round(sell_raw / depth_samples.size_tokens) - 1000000, ${UNQUOTED})) AS distance
  FROM depth_samples WHERE ${IN_RANGE} AND depth_samples.size_tokens = {${size}: UInt32}`

/** Larger sizes are sampled every minute or five: a sample speaks for the time up to the next, and a little more. */
export const MAX_DEPTH_SECONDS = 330

/**
 * Each price with the newest one of another size, if that is quoted and not too old: of the two distances the smaller one
 * counts, and none if one is above the peg and the other below.
 */
const agreed = (prices: string) => `
  SELECT prices.block_time AS block_time, prices.block_number AS block_number,
         multiIf(other.time = 0 OR toUnixTimestamp(prices.block_time) - other.time > ${MAX_DEPTH_SECONDS}, prices.distance,
                 ${UNQUOTED} IN (prices.distance, other.distance), prices.distance,
                 sign(prices.distance) * sign(other.distance) < 0, 0,
                 abs(other.distance) < abs(prices.distance), other.distance,
                 prices.distance) AS distance
  FROM (SELECT 1 AS joined, * FROM (${prices})) AS prices
  ASOF LEFT JOIN (SELECT 1 AS joined, block_number, distance, toUnixTimestamp(block_time) AS time FROM (${larger('agree_tokens')})) AS other
  ON prices.joined = other.joined AND prices.block_number >= other.block_number`

/** What a token sells for if so many are sold at once, as far as the price of another size agrees; null: whether or not. */
export type PriceOf = { size_tokens: Size; agree_tokens: Size | null }

function statement({ size_tokens, agree_tokens }: PriceOf): string {
  const prices = size_tokens === 1 ? ONE_TOKEN : larger('size_tokens')
  const distances = agree_tokens === null ? prices : agreed(prices)
  return `SELECT toUnixTimestamp(block_time), distance FROM (${distances}) ORDER BY block_time, block_number FORMAT RowBinary`
}

/** A row: a UInt32 and an Int32. */
const ROW_BYTES = 8

/**
 * What a token of a stable sold for in a range, in order of the blocks: the time in unix seconds and the distance from 1 in
 * millionths, or UNQUOTED, in turn. In binary, since a year has 31 million. Rejects with QueryError.
 */
export async function* pricesOf(
  clickhouse: ClickHouseClient,
  { stable, from, to, ...price }: Range & PriceOf & { stable: string },
  signal: AbortSignal,
): AsyncGenerator<Int32Array> {
  const { size_tokens, agree_tokens } = price
  const stream = await streamOf(clickhouse, {
    name: 'backtest_prices',
    sql: statement(price),
    query_params: { stable, from, to, size_tokens, agree_tokens: agree_tokens ?? 0 },
    signal,
  })
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % ROW_BYTES)
    rest = bytes.subarray(whole)
    // A copy, since the numbers must be aligned. Times fit into 31 bits until 2038.
    yield new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + whole))
  }
}
