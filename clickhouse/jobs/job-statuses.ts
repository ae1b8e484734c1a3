import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

export const JobStatus = z.object({
  job: z.string().meta({ description: 'Name of the job' }),
  last_slot_at: dateTime.nullable().meta({ description: 'Newest slot that is done, in time of the chain' }),
  last_success_at: dateTime.nullable().meta({ description: 'When one was done last, by the clock' }),
  lag_seconds: z.int().nullable().meta({ description: 'How far that slot is behind the newest block' }),
})

/**
 * How far each of `jobs` has come: the newest slot that it has done, when it did one last by the clock, and how far the
 * slot is behind the newest block, or behind all of history where it never did one. null where there is no such thing.
 */
export const jobStatuses = defineQuery({
  name: 'job_statuses',
  params: z.object({ jobs: z.array(z.string()) }),
  row: JobStatus,
  sql: `
    WITH
        (SELECT maxOrNull(block_time) FROM blocks) AS newest,
        (SELECT minOrNull(block_time) FROM blocks) AS oldest
    SELECT job, formatDateTime(slot_at, '%FT%TZ') AS last_slot_at, formatDateTime(ended_at, '%FT%TZ') AS last_success_at,
           toInt32(newest - coalesce(slot_at, oldest)) AS lag_seconds
    FROM (SELECT arrayJoin({jobs: Array(String)}) AS job) AS asked
    LEFT JOIN
    (
        SELECT job, toNullable(max(slot_at)) AS slot_at, toNullable(max(addMilliseconds(started_at, duration_ms))) AS ended_at
        FROM job_runs WHERE state = 'done' AND job IN {jobs: Array(String)} GROUP BY job
    ) AS runs USING job
    ORDER BY job`,
})
