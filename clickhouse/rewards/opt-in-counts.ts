import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

const count = z.int().nonnegative()

export const RewardOptIns = z.object({
  recipient_count: count.meta({ description: 'Holders whose last choice is somebody, not nobody' }),
  distinct_recipients: count.meta({ description: 'Accounts that they have chosen, each once' }),
  redirected_count: count.meta({ description: 'Holders whose last choice is another account than their own' }),
})

/** How many holders of a stable take part in rewards as of `at`, by the last choice of each: one row. */
export const rewardOptIns = defineQuery({
  name: 'reward_opt_ins',
  params: z.object({ stable: z.string(), at: z.date() }),
  row: RewardOptIns,
  // One number for the place in the chain: to compare pairs takes more than twice as long.
  sql: `
    SELECT toUInt32(count()) AS recipient_count, toUInt32(uniqExact(chosen)) AS distinct_recipients,
           toUInt32(countIf(chosen != holder)) AS redirected_count
    FROM
    (
        SELECT holder, argMax(recipient, toUInt128(block_number) * 4294967296 + log_index) AS chosen
        FROM reward_recipients
        WHERE stable = {stable: String} AND block_time <= {at: DateTime}
        GROUP BY holder
    )
    WHERE chosen != '0x0000000000000000000000000000000000000000'`,
})
