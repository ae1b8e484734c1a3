import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * Of each job that has done a slot after `since` by the clock, how much time of the chain its slots have gained, in
 * seconds; null where it had done none before.
 */
export const jobProgress = defineQuery({
  name: 'job_progress',
  params: z.object({ since: z.date() }),
  row: z.object({ job: z.string(), gained_seconds: z.int().nullable() }),
  sql: `
    WITH addMilliseconds(started_at, duration_ms) AS ended_at
    SELECT job, toInt32(max(slot_at) - maxOrNullIf(slot_at, ended_at <= {since: DateTime64(3)})) AS gained_seconds
    FROM job_runs WHERE state = 'done'
    GROUP BY job
    HAVING max(ended_at) > {since: DateTime64(3)}
    ORDER BY job`,
})
