import { z } from 'zod'
import { defineQuery } from '../../define-query.js'
import { near, nearFirst } from '../../near-first.js'

export const RewardDistributionRow = z.object({
  funder: z.string(),
  amount_tokens: z.number().nonnegative(),
  block_number: z.int(),
  block_timestamp: z.iso.datetime(),
  tx_hash: z.string(),
})

/** The last ten distributions to the holders of a stable up to `at`, newest first. */
export const recentRewardDistributions = nearFirst(
  defineQuery({
    name: 'recent_reward_distributions',
    params: z.object({ stable: z.string(), at: z.date(), is_near: z.boolean() }),
    row: RewardDistributionRow,
    sql: `
    SELECT funder, toFloat64(amount_raw) / 1e6 AS amount_tokens, toUInt32(block_number) AS block_number,
           block_time AS block_timestamp, tx_hash
    FROM reward_distributions
    WHERE stable = {stable: String} AND block_time <= {at: DateTime} AND ${near('block_time', 'at')}
    ORDER BY block_time DESC, reward_distributions.block_number DESC, log_index DESC LIMIT 10`,
  }),
  (rows) => rows.length === 10,
)
