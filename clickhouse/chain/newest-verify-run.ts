import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** What the newest run of `npm run verify` has found, in its order; nothing where there never was one. */
export const newestVerifyRun = defineQuery({
  name: 'newest_verify_run',
  params: z.object({}),
  row: z.object({
    started_at: dateTime,
    ended_at: dateTime,
    what: z.string(),
    status: z.enum(['match', 'mismatch', 'not checked']),
    scope: z.string(),
  }),
  sql: `
    SELECT started_at, ended_at, what, status, scope
    FROM verify_runs
    WHERE (ended_at, run_id) = (SELECT ended_at, run_id FROM verify_runs ORDER BY ended_at DESC, run_id DESC LIMIT 1)
    ORDER BY position`,
})
