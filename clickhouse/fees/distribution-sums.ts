import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'

/**
 * The fees that validators were paid in each token up to `at`, in base units; in no order. A window of length W is
 * (at - W, at]. The token need not be a known stable.
 */
export const feeDistributionSums = defineQuery({
  name: 'fee_distribution_sums',
  params: z.object({ at: z.date() }),
  row: z.object({
    stable: z.string(),
    last_24h_raw: integerText,
    last_7d_raw: integerText,
    all_time_raw: integerText,
    distribution_count: z.int().positive(),
  }),
  sql: `
    SELECT stable,
           toString(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - 86400)) AS last_24h_raw,
           toString(sumIf(toUInt256(amount_raw), block_time > {at: DateTime} - 604800)) AS last_7d_raw,
           toString(sum(toUInt256(amount_raw))) AS all_time_raw,
           toUInt32(count()) AS distribution_count
    FROM fee_distributions
    WHERE block_time <= {at: DateTime}
    GROUP BY stable`,
})
