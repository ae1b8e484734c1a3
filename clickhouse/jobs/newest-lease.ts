import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The newest term, who has it, and how long ago he said so, in milliseconds; nothing where no process ever ran the jobs. */
export const newestLease = defineQuery({
  name: 'newest_lease',
  params: z.object({}),
  row: z.object({ term: z.int(), instance: z.string(), is_released: z.boolean(), age_ms: z.int() }),
  sql: `
    SELECT toUInt32(term) AS term, anyIf(instance, state = 'claimed') AS instance, max(state = 'released')::Bool AS is_released,
           toInt32(least(dateDiff('millisecond', max(recorded_at), now64(3)), 0x7fffffff)) AS age_ms
    FROM job_leases WHERE term = (SELECT max(term) FROM job_leases)
    GROUP BY term`,
})
