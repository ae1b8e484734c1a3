import { z } from 'zod'
import { dateTime } from '../columns.js'
import { defineQuery } from '../define-query.js'

/**
 * The newest slot that a job has done, and that no rollback has met since: what it publishes is true up to this instant.
 * Nothing before its first run.
 */
export const jobHorizon = defineQuery({
  name: 'job_horizon',
  params: z.object({ job: z.string() }),
  row: z.object({ slot_at: dateTime }),
  sql: `
    WITH
        (SELECT groupUniqArray((sequence_number, kept_time)) FROM ingest_rollbacks WHERE state = 'done') AS rollbacks
    SELECT formatDateTime(slot_at, '%FT%TZ') AS slot_at FROM job_runs
    WHERE job = {job: String} AND state = 'done'
      AND NOT arrayExists(rollback -> rollback.1 > revision AND rollback.2 <= job_runs.slot_at, rollbacks)
    ORDER BY job_runs.slot_at DESC LIMIT 1`,
})
