import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { dateTime, integerText } from '../store/values.js'

/** A sample as the tuple that SAMPLE selects. */
export const SampleTuple = z
  .tuple([
    integerText.transform(Number),
    dateTime,
    z.enum(['quoted', 'anchor', 'no_liquidity', 'no_pair', 'not_usd', 'paused', 'failed']),
    z.int().nullable(),
    z.int().nullable(),
  ])
  .transform(([block_number, block_time, status, sell_micros, buy_micros]) => ({
    block_number,
    block_time,
    status,
    sell_micros,
    buy_micros,
  }))

export const SAMPLE = '(block_number, block_time, status, sell_micros, buy_micros)'

const params = z.object({ stable: z.string(), as_of: z.date(), is_near: z.boolean() })
const row = z.object({ sample: SampleTuple })

/** A stable's nearest sample at or before `as_of`, with or without a price. Nothing before its first one. */
export const newestSample = nearFirst(
  defineQuery({
    name: 'newest_sample',
    params,
    row,
    sql: `
    SELECT ${SAMPLE} AS sample
    FROM peg_samples
    WHERE stable = {stable: String} AND block_time <= {as_of: DateTime} AND ${near('block_time', 'as_of')}
    ORDER BY block_time DESC, block_number DESC LIMIT 1`,
  }),
)

/** A stable's nearest sample with a price at or before `as_of`; nothing when there was never one. */
export const newestPricedSample = nearFirst(
  defineQuery({
    name: 'newest_priced_sample',
    params,
    row,
    sql: `
    SELECT ${SAMPLE} AS sample
    FROM peg_samples
    WHERE stable = {stable: String} AND block_time <= {as_of: DateTime} AND ${near('block_time', 'as_of')} AND status IN ('quoted', 'anchor')
    ORDER BY block_time DESC, block_number DESC LIMIT 1`,
  }),
)
