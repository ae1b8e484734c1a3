import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { integerText } from '../store/values.js'

/**
 * What the holders of a stable have opted in, in base units and tokens, and the pool's accumulator, at the last read up to
 * `at`. Null where that read could not tell; nothing where there was none.
 */
export const rewardPool = nearFirst(
  defineQuery({
    name: 'reward_pool',
    params: z.object({ stable: z.string(), at: z.date(), is_near: z.boolean() }),
    row: z.object({
      opted_in_supply: integerText.nullable(),
      opted_in_tokens: z.number().nonnegative().nullable(),
      global_reward_per_token: integerText.nullable(),
    }),
    sql: `
    SELECT toString(opted_in_raw) AS opted_in_supply, toFloat64(opted_in_raw) / 1e6 AS opted_in_tokens,
           toString(reward_per_token_raw) AS global_reward_per_token
    FROM state_reads
    WHERE stable = {stable: String} AND block_time <= {at: DateTime} AND ${near('block_time', 'at')}
    ORDER BY block_time DESC, block_number DESC LIMIT 1`,
  }),
)
