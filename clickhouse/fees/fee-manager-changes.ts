import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'

/**
 * What the fee manager took in minus what it paid out of each token in the blocks (after, to], in base units, by the
 * facts: fees, distributions, and liquidity and trades of its pools.
 */
export const feeManagerChanges = defineQuery({
  name: 'fee_manager_changes',
  params: z.object({ after: z.int(), to: z.int() }),
  row: z.object({ stable: z.string(), change_raw: integerText }),
  sql: `
    SELECT stable, toString(sum(change)) AS change_raw
    FROM
    (
        SELECT stable, toInt256(amount_raw) AS change, block_number FROM fees_paid
        UNION ALL
        SELECT stable, -toInt256(amount_raw), block_number FROM fee_distributions
        UNION ALL
        SELECT validator_token, if(kind = 'burn', -1, 1) * toInt256(validator_amount_raw), block_number FROM fee_pool_events
        UNION ALL
        SELECT user_token, -toInt256(user_amount_raw), block_number FROM fee_pool_events WHERE kind IN ('burn', 'rebalance')
    )
    WHERE block_number > {after: UInt64} AND block_number <= {to: UInt64}
    GROUP BY stable`,
})
