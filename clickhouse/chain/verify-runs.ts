import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** What a run has found; the columns are described in the migration. Times as `Date`. */
export type VerifyRun = {
  started_at: Date
  ended_at: Date
  findings: ReadonlyArray<{
    what: string
    status: 'match' | 'mismatch' | 'not checked'
    scope: string
    differences: readonly string[]
  }>
}

const seconds = (time: Date): string => (time.getTime() / 1000).toFixed(3)

/** Records a run that has come to its end. */
export function insertVerifyRun(
  clickhouse: ClickHouseClient,
  { started_at, ended_at, findings }: VerifyRun,
): Promise<void> {
  const run = { run_id: randomUUID(), started_at: seconds(started_at), ended_at: seconds(ended_at) }
  const rows = findings.map((finding, position) => ({ ...run, position, ...finding }))
  return insertRows(clickhouse, 'verify_runs', rows, run.run_id)
}
