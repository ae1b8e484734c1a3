import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

export const RewardFunder = z.object({
  address: z.string().meta({ description: 'Address of the account that gave' }),
  distribution_count: z.int().positive().meta({ description: 'How often it gave' }),
  total_amount_tokens: z.number().nonnegative().meta({ description: 'What it gave in all, in whole tokens' }),
})

/** The ten who gave most to the holders of a stable up to `at`, most first, then by address. */
export const topRewardFunders = defineQuery({
  name: 'top_reward_funders',
  params: z.object({ stable: z.string(), at: z.date() }),
  row: RewardFunder,
  sql: `
    SELECT funder AS address, toUInt32(count()) AS distribution_count,
           toFloat64(sum(toUInt256(amount_raw))) / 1e6 AS total_amount_tokens
    FROM reward_distributions
    WHERE stable = {stable: String} AND block_time <= {at: DateTime}
    GROUP BY funder
    ORDER BY sum(toUInt256(amount_raw)) DESC, funder LIMIT 10`,
})
