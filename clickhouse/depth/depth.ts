import { z } from 'zod'
import { isRecent, recentFirstByStable } from '../chain/recent-first.js'
import { QuoteStatus } from '../peg/price.js'
import { defineQuery } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { together } from '../store/together.js'
import { dateTime, integerText } from '../store/values.js'

/**
 * What `size_tokens` whole tokens sell for and cost in base units of the reference stable at the end of a block, as
 * decimal strings; null without a quote.
 */
export type DepthSample = {
  stable: string
  size_tokens: number
  block_number: number
  block_time: number
  sell_status: QuoteStatus
  sell_raw: string | null
  buy_status: QuoteStatus
  buy_raw: string | null
}

/** Both sides of a row with a size, and the prices of one token at the same block. */
const SIDES = {
  sell_status: QuoteStatus,
  sell_raw: integerText.nullable(),
  buy_status: QuoteStatus,
  buy_raw: integerText.nullable(),
  sell_micros: z.int().nullable(),
  buy_micros: z.int().nullable(),
}

const depthsAt = recentFirstByStable(
  defineQuery({
    name: 'depth_at',
    params: z.object({ stables: z.array(z.string()), as_of: z.date(), recent_only: z.boolean() }),
    row: z.object({
      stable: z.string(),
      size_tokens: z.int(),
      block_number: integerText.transform(Number),
      block_time: dateTime,
      ...SIDES,
    }),
    sql: `
    WITH (SELECT groupArray((toString(stable), at.1, at.2))
          FROM (SELECT stable, max((block_time, block_number)) AS at FROM depth_samples
                WHERE stable IN {stables: Array(String)} AND size_tokens = 1000 AND block_time <= {as_of: DateTime} AND ${isRecent('block_time', 'as_of')}
                GROUP BY stable)) AS newest
    SELECT stable, size_tokens, block_number, block_time, sell_status, sell_raw, buy_status, buy_raw, sell_micros, buy_micros
    FROM depth_samples
    LEFT JOIN (SELECT stable, block_number, sell_micros, buy_micros FROM peg_samples
               WHERE (stable, block_time, block_number) IN (SELECT arrayJoin(newest))) AS pegs USING (stable, block_number)
    WHERE (stable, block_time, block_number) IN (SELECT arrayJoin(newest))
    ORDER BY stable, size_tokens`,
  }),
)

/**
 * The quotes of a stable's newest depth sample at or before an instant, smallest size first, each with the prices of
 * one token at the same block, in millionths of the reference stable; empty before the first sample.
 */
export const depthAt = keptWhile(['depth_samples', 'peg_samples'], together('depth_at', depthsAt))

/** What each size sells for in the newest depth sample of every stable in (from, at], in base units; smallest size first. */
export const sellQuotesAt = defineQuery({
  name: 'sell_quotes_at',
  params: z.object({ from: z.date(), at: z.date() }),
  row: z.object({
    stable: z.string(),
    size_tokens: z.int(),
    sell_status: QuoteStatus,
    sell_raw: integerText.nullable(),
  }),
  sql: `
    SELECT stable, size_tokens, sell_status, toString(sell_raw) AS sell_raw FROM depth_samples
    WHERE (stable, block_time, block_number) IN
          (
              SELECT stable, max((block_time, block_number)).1, max((block_time, block_number)).2 FROM depth_samples
              WHERE block_time > {from: DateTime} AND block_time <= {at: DateTime} GROUP BY stable
          )
      AND block_time > {from: DateTime} AND block_time <= {at: DateTime}
    ORDER BY stable, size_tokens`,
})

/**
 * A stable's newest depth quotes in each bucket of `interval` seconds from `first` to `end`, in unix seconds, by bucket number
 * and size, each with the prices of one token at the same block; none in a bucket without a sample.
 */
export const depthSeries = defineQuery({
  name: 'depth_series',
  params: z.object({ stable: z.string(), interval: z.int(), first: z.int(), end: z.int() }),
  row: z.object({
    bucket_index: z.int(),
    size_tokens: z.int(),
    ...SIDES,
  }),
  sql: `
    SELECT bucket_index, size_tokens, newest.2 AS sell_status, toString(newest.3) AS sell_raw, newest.4 AS buy_status,
           toString(newest.5) AS buy_raw, sell_micros, buy_micros
    FROM
    (
        SELECT toUInt32(intDiv(toUnixTimestamp(block_time) - 1 - {first: UInt32}, {interval: UInt32})) AS bucket_index, size_tokens,
               argMax((block_number, sell_status, sell_raw, buy_status, buy_raw), block_number) AS newest
        FROM depth_samples
        WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32}
        GROUP BY bucket_index, size_tokens
    ) AS depths
    LEFT JOIN
    (
        SELECT block_number, sell_micros, buy_micros FROM peg_samples
        WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32}
          AND block_time IN (SELECT block_time FROM depth_samples
                             WHERE stable = {stable: String} AND block_time > {first: UInt32} AND block_time <= {end: UInt32})
    ) AS pegs ON depths.newest.1 = pegs.block_number
    ORDER BY bucket_index, size_tokens`,
})

/** One side of the book at a size: the quote for the whole size, in base units; null without a quote. */
type Quote = { status: QuoteStatus; raw: string | null; size_tokens: number; one_token_micros: number | null }

type DepthQuote = {
  status: QuoteStatus
  amount: string | null
  price: number | null
  slippage_bps: number | null
}

/**
 * The average price of a token at a size, and how much worse it is than the price of a single token, in basis points:
 * you receive less when selling or pay more when buying. Negative if it is better. Null if a quote is missing.
 */
export function depthQuote(side: 'sell' | 'buy', { status, raw, size_tokens, one_token_micros }: Quote): DepthQuote {
  if (raw === null) return { status, amount: null, price: null, slippage_bps: null }
  const price = Number(raw) / (size_tokens * 1e6)
  if (one_token_micros === null || one_token_micros === 0) return { status, amount: raw, price, slippage_bps: null }
  // In integers until the last division: the difference between two close prices has few significant digits.
  const whole = BigInt(one_token_micros) * BigInt(size_tokens)
  const worse = side === 'sell' ? whole - BigInt(raw) : BigInt(raw) - whole
  return { status, amount: raw, price, slippage_bps: (Number(worse) * 10_000) / Number(whole) }
}
