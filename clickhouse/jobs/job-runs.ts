import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** How the run of a slot ended; the columns are described in the migration. Times in unix seconds and milliseconds. */
export type JobRun = {
  job: string
  slot_at: number
  revision: number
  state: 'done' | 'failed'
  result_rows: number
  error: string
  started_at: string
  duration_ms: number
  instance: string
}

/** Records the end of a run. A slot is done once for each revision, however often that is said. */
export function insertJobRun(clickhouse: ClickHouseClient, run: JobRun): Promise<void> {
  const attempt = run.state === 'done' ? '' : `:${run.instance}:${run.started_at}`
  return insertRows(clickhouse, 'job_runs', [run], `${run.job}:${run.slot_at}:${run.revision}:${run.state}${attempt}`)
}
