import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { blockNumber, blockTimestamp, txHash } from '../store/values.js'

export const RewardDistributionRow = z.object({
  funder: z.string().meta({ description: 'Address of the account that gave it' }),
  amount_tokens: z.number().nonnegative().meta({ description: 'In whole tokens' }),
  block_number: blockNumber,
  block_timestamp: blockTimestamp,
  tx_hash: txHash,
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
