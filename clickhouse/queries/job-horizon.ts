import { z } from 'zod'
import { dateTime } from '../columns.js'
import { defineQuery } from '../define-query.js'

/** The newest slot that a job has done: what it publishes is true up to this instant. Nothing before its first run. */
export const jobHorizon = defineQuery({
  name: 'job_horizon',
  params: z.object({ job: z.string() }),
  row: z.object({ slot_at: dateTime }),
  sql: `
    SELECT formatDateTime(max(slot_at), '%FT%TZ') AS slot_at FROM job_runs
    WHERE job = {job: String} AND state = 'done' HAVING count() > 0`,
})
