import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

const tokens = z.number().nonnegative()

/**
 * What was given to the holders of a stable up to `at`, in tokens: one row, of zeros where nothing was. A window of
 * length W is (at - W, at].
 */
export const rewardDistributionSums = defineQuery({
  name: 'reward_distribution_sums',
  params: z.object({ stable: z.string(), at: z.date() }),
  row: z.object({
    distribution_count: z.int().nonnegative(),
    last_24h_tokens: tokens,
    last_7d_tokens: tokens,
    all_time_tokens: tokens,
  }),
  // Amounts are as large as their issuer likes: their sum may exceed 128 bits.
  sql: `
    SELECT toUInt32(count()) AS distribution_count,
           toFloat64(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - 86400)) / 1e6 AS last_24h_tokens,
           toFloat64(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - 604800)) / 1e6 AS last_7d_tokens,
           toFloat64(sum(toUInt256(amount_raw))) / 1e6 AS all_time_tokens
    FROM reward_distributions
    WHERE stable = {stable: String} AND block_time <= {at: DateTime}`,
})
