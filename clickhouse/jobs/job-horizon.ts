import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/**
 * The newest slot that a job has done, and that neither a rollback nor a backfill has met since: what it publishes is
 * true up to this instant. Nothing before its first run.
 */
export const jobHorizon = defineQuery({
  name: 'job_horizon',
  params: z.object({ job: z.string() }),
  row: z.object({ slot_at: dateTime }),
  sql: `
    WITH
        (SELECT groupUniqArray((revision, kept_time)) FROM history_revisions WHERE is_done) AS changes
    SELECT formatDateTime(slot_at, '%FT%TZ') AS slot_at FROM job_runs
    WHERE job = {job: String} AND state = 'done'
      AND NOT arrayExists(change -> change.1 > revision AND change.2 <= job_runs.slot_at, changes)
    ORDER BY job_runs.slot_at DESC LIMIT 1`,
})
