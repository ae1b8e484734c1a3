import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, onlyColumn } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'

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

/**
 * The newest slot that a job has done, and that neither a rollback nor a backfill has met since: what it publishes is
 * true up to this instant. Null before its first run.
 */
export const jobHorizon = defineOptionalRow({
  name: 'job_horizon',
  params: z.object({ job: z.string() }),
  row: onlyColumn('slot_at', dateTime),
  sql: `
    WITH
        (SELECT groupUniqArray((revision, kept_time)) FROM history_revisions WHERE is_done) AS changes
    SELECT formatDateTime(slot_at, '%FT%TZ') AS slot_at FROM job_runs
    WHERE job = {job: String} AND state = 'done'
      AND NOT arrayExists(change -> change.1 > revision AND change.2 <= job_runs.slot_at, changes)
    ORDER BY job_runs.slot_at DESC LIMIT 1`,
})

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
