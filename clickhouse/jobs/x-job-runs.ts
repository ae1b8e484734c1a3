import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'

/**
 * What each job has done: its runs by how they ended, ever and in the day before `now`, how long one took then in the
 * median, and how long after their time slots were done. No row for a job that never ran.
 */
export const jobRuns = defineQuery({
  name: 'job_runs',
  params: z.object({ now: z.date() }),
  row: z.object({
    job: z.string(),
    done: z.int(),
    failed: z.int(),
    done_24h: z.int(),
    failed_24h: z.int(),
    median_ms_24h: z.int().nullable(),
    ...delayColumns,
  }),
  sql: `
    WITH ended_at > {now: DateTime64(3)} - INTERVAL 1 DAY AS is_new
    SELECT job, toUInt32(countIf(state = 'done')) AS done, toUInt32(countIf(state = 'failed')) AS failed,
           toUInt32(countIf(state = 'done' AND is_new)) AS done_24h, toUInt32(countIf(state = 'failed' AND is_new)) AS failed_24h,
           quantileExactIfOrNull(0.5)(duration_ms, state = 'done' AND is_new) AS median_ms_24h,
           ${DELAYS.replaceAll('ended_at >', "state = 'done' AND ended_at >")}
    FROM
    (
        SELECT job, state, duration_ms, addMilliseconds(started_at, duration_ms) AS ended_at,
               dateDiff('millisecond', toDateTime64(slot_at, 3, 'UTC'), ended_at) / 1000 AS delay
        FROM job_runs
    )
    GROUP BY job ORDER BY job`,
})
