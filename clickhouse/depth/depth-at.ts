import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { dateTime, integerText } from '../store/values.js'

const Status = z.enum(['quoted', 'anchor', 'no_liquidity', 'no_pair', 'not_usd', 'paused', 'failed'])
const raw = integerText.nullable()

/**
 * The quotes of a stable's newest depth sample at or before an instant, smallest size first, each with the prices of
 * one token at the same block, in millionths of the reference stable; nothing before the first.
 */
export const depthAt = nearFirst(
  defineQuery({
    name: 'depth_at',
    params: z.object({ stable: z.string(), as_of: z.date(), is_near: z.boolean() }),
    row: z.object({
      size_tokens: z.int(),
      block_number: integerText.transform(Number),
      block_time: dateTime,
      sell_status: Status,
      sell_raw: raw,
      buy_status: Status,
      buy_raw: raw,
      sell_micros: z.int().nullable(),
      buy_micros: z.int().nullable(),
    }),
    sql: `
    WITH (SELECT (block_time, block_number) FROM depth_samples
          WHERE stable = {stable: String} AND size_tokens = 1000 AND block_time <= {as_of: DateTime} AND ${near('block_time', 'as_of')}
          ORDER BY depth_samples.block_time DESC, depth_samples.block_number DESC LIMIT 1) AS newest
    SELECT size_tokens, block_number, block_time, sell_status, sell_raw, buy_status, buy_raw, sample.1 AS sell_micros, sample.2 AS buy_micros
    FROM depth_samples
    CROSS JOIN (SELECT any(tuple(sell_micros, buy_micros)) AS sample FROM peg_samples
                WHERE stable = {stable: String} AND block_time = newest.1 AND block_number = newest.2) AS peg
    WHERE stable = {stable: String} AND block_time = newest.1 AND block_number = newest.2
    ORDER BY size_tokens`,
  }),
)
