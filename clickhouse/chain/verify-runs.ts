import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime, unixSeconds } from '../store/values.js'

/** The findings of a run; the columns are described in clickhouse/schema. */
type VerifyRun = {
  started_at: Date
  ended_at: Date
  findings: ReadonlyArray<{
    what: string
    status: 'match' | 'mismatch' | 'not checked'
    scope: string
    differences: readonly string[]
  }>
}

/** Records a completed run. */
export function insertVerifyRun(
  clickhouse: ClickHouseClient,
  { started_at, ended_at, findings }: VerifyRun,
): Promise<void> {
  const run = { run_id: randomUUID(), started_at: unixSeconds(started_at), ended_at: unixSeconds(ended_at) }
  const rows = findings.map((finding, position) => ({ ...run, position, ...finding }))
  return insertRows(clickhouse, 'verify_runs', rows, run.run_id)
}

/** The findings of the newest run of `npm run verify`, in its order; empty if there was none. */
export const newestVerifyRun = defineQuery({
  name: 'newest_verify_run',
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
