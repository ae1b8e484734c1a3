import { z } from 'zod'
import { defineQuery } from '../define-query.js'

const price = z.number().nonnegative()

export const PegSampleRow = z.object({
  status: z.enum(['quoted', 'anchor', 'no_liquidity', 'no_pair', 'not_usd', 'paused', 'failed']),
  price_vs_refusd: price.nullable(),
  buy_price: price.nullable(),
  spread_bps: price.nullable(),
  block_number: z.int(),
  sampled_at: z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$/),
})
export type PegSampleRow = z.infer<typeof PegSampleRow>

export const PricedSampleRow = PegSampleRow.extend({ price_vs_refusd: price, spread_bps: price })
export type PricedSampleRow = z.infer<typeof PricedSampleRow>

/** How a sample is shown: prices of one token in the reference stable, and the distance from 1 in basis points. */
const SAMPLE_COLUMNS = `
  status, sell_micros / 1000000 AS price_vs_refusd, buy_micros / 1000000 AS buy_price,
  abs(deviation_micros) / 100 AS spread_bps, toUInt32(block_number) AS block_number,
  formatDateTime(block_time, '%F %T+00') AS sampled_at`

const params = z.object({ stable: z.string(), as_of: z.date() })

/** A stable's nearest sample at or before `as_of`, with or without a price. Nothing before its first one. */
export const newestSample = defineQuery({
  name: 'newest_sample',
  params,
  row: PegSampleRow,
  sql: `
    SELECT ${SAMPLE_COLUMNS}
    FROM peg_samples
    WHERE stable = {stable: String} AND block_time <= {as_of: DateTime}
    ORDER BY peg_samples.block_time DESC, peg_samples.block_number DESC LIMIT 1`,
})

/** A stable's nearest sample with a price at or before `as_of`; nothing when there was never one. */
export const newestPricedSample = defineQuery({
  name: 'newest_priced_sample',
  params,
  row: PricedSampleRow,
  sql: `
    SELECT ${SAMPLE_COLUMNS}
    FROM peg_samples
    WHERE stable = {stable: String} AND block_time <= {as_of: DateTime} AND status IN ('quoted', 'anchor')
    ORDER BY peg_samples.block_time DESC, peg_samples.block_number DESC LIMIT 1`,
})
