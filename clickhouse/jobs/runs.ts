import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { chainSpan } from '../chain/blocks.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import { DELAYS, delayColumns } from '../store/delays.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'
import { SLOTS_OF_DAY } from './done-slots.js'

/** How the run of a slot ended; the columns are described in clickhouse/schema. Times in unix seconds and milliseconds. */
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

/** Records the end of a run of a slot. However often it is recorded, a slot is done once for each revision. */
export const insertJobRun = (clickhouse: ClickHouseClient, run: JobRun): Promise<void> =>
  insertJobRuns(clickhouse, [run])

/** Records the ends of the runs of consecutive slots of a job, which ended in the same way. */
export function insertJobRuns(clickhouse: ClickHouseClient, runs: readonly JobRun[]): Promise<void> {
  const [first, last] = [runs[0], runs.at(-1)]
  if (!first || !last) return Promise.resolve()
  const { job, slot_at, revision, state, instance, started_at } = first
  const slots = last.slot_at === slot_at ? `${slot_at}` : `${slot_at}-${last.slot_at}`
  const attempt = state === 'done' ? '' : `:${instance}:${started_at}`
  return insertRows(clickhouse, 'job_runs', runs, `${job}:${slots}:${revision}:${state}${attempt}`)
}

/**
 * For each job that completed a slot after the wall-clock time `since`, how far its slots have advanced in chain time
 * since then, in seconds; null if it had completed none before. Reads single runs only of days with later ones
 * (clickhouse/schema/0014_operations.sql).
 */
export const jobProgress = defineQuery({
  name: 'job_progress',
  params: z.object({ since: z.date() }),
  row: z.object({ job: z.string(), gained_seconds: z.int().nullable() }),
  sql: `
    WITH days AS
    (
        SELECT job, toDate(slot_at) AS day, revision, max(slot_at) AS last_slot, max(addMilliseconds(started_at, duration_ms)) AS last_ended
        FROM job_runs WHERE state = 'done'
        GROUP BY job, toDate(slot_at), revision
    )
    SELECT job, toInt32(max(slot) - maxOrNullIf(slot, ended_at <= {since: DateTime64(3)})) AS gained_seconds
    FROM
    (
        SELECT job, last_slot AS slot, last_ended AS ended_at FROM days
        UNION ALL
        SELECT job, slot_at AS slot, addMilliseconds(started_at, duration_ms) AS ended_at FROM job_runs
        WHERE state = 'done' AND (job, toDate(slot_at)) IN (SELECT job, day FROM days WHERE last_ended > {since: DateTime64(3)})
    )
    GROUP BY job
    HAVING max(ended_at) > {since: DateTime64(3)}
    ORDER BY job`,
})

/** The time over which the speed of a job is measured. */
const RATE_SECONDS = 300

/**
 * How fast each job has completed slots in the last minutes before `now`: the slots after those that ended first in that time,
 * and the time since these ended, in milliseconds. So a job that was idle before counts from when it began, and one that has
 * stopped becomes slower. No row for a job of which only one run, or one pass, ended in that time: its speed is not known.
 */
export const slotRates = defineQuery({
  name: 'slot_rates',
  params: z.object({ now: z.date() }),
  row: z.object({ job: z.string(), slots: z.int(), elapsed_ms: z.int().positive() }),
  sql: `
    SELECT job, toUInt32(sum(ended_slots) - argMin(ended_slots, ended)) AS slots,
           toUInt32(greatest(1, dateDiff('millisecond', min(ended), {now: DateTime64(3)}))) AS elapsed_ms
    FROM
    (
        SELECT job, addMilliseconds(started_at, duration_ms) AS ended, uniqExact(slot_at, revision) AS ended_slots
        FROM job_runs
        WHERE state = 'done' AND addMilliseconds(started_at, duration_ms) > {now: DateTime64(3)} - INTERVAL ${RATE_SECONDS} SECOND
          AND addMilliseconds(started_at, duration_ms) <= {now: DateTime64(3)}
        GROUP BY job, ended
    )
    GROUP BY job HAVING slots > 0 ORDER BY job`,
})

/** Every slot that a job has completed, in unix seconds, and the newest revision under which it did. */
export const completedSlots = defineQuery({
  name: 'completed_slots',
  row: z.object({ job: z.string(), slot_at: z.int(), revision: z.int() }),
  sql: `
    SELECT job, toUnixTimestamp(slot_at) AS slot_at, max(revision) AS revision
    FROM job_runs WHERE state = 'done'
    GROUP BY job, slot_at ORDER BY job, slot_at`,
})

export const JobStatus = z.object({
  job: z.string().meta({ description: 'Name of the job' }),
  last_slot_at: dateTime.nullable().meta({ description: 'Newest slot that the job has completed, in chain time' }),
  last_success_at: dateTime.nullable().meta({ description: 'When the job last completed a slot, in wall-clock time' }),
  lag_seconds: z.int().nullable().meta({ description: 'How far that slot is behind the newest block, in seconds' }),
})

/** The newest completed slot of each of `jobs` that has one, and when a slot last ended. */
const newestSlots = defineQuery({
  name: 'newest_slots',
  params: z.object({ jobs: z.array(z.string()) }),
  row: z.object({ job: z.string(), last_slot_at: dateTime, last_success_at: dateTime }),
  sql: `
    SELECT job, max(slot_at) AS last_slot_at, toDateTime(max(addMilliseconds(started_at, duration_ms))) AS last_success_at
    FROM job_runs WHERE state = 'done' AND job IN {jobs: Array(String)} GROUP BY job`,
})

/**
 * The progress of each of `jobs`: its newest completed slot, the wall-clock time at which it last completed one, and
 * how many seconds that slot is behind the newest block. If it never completed one, the first two are null and the lag
 * is counted from the oldest block. The lag is null before the first block. Ordered by job.
 */
export async function jobStatuses(
  clickhouse: ClickHouseClient,
  { jobs }: { jobs: readonly string[] },
  options?: ReadOptions,
): Promise<z.infer<typeof JobStatus>[]> {
  const [slots, span] = await Promise.all([
    newestSlots(clickhouse, { jobs: [...jobs] }, options),
    chainSpan(clickhouse, options),
  ])
  return jobs.toSorted().map((job) => {
    const newest = slots.find((slot) => slot.job === job)
    const from = newest ? newest.last_slot_at.getTime() / 1000 : span?.oldest
    return {
      job,
      last_slot_at: newest?.last_slot_at ?? null,
      last_success_at: newest?.last_success_at ?? null,
      lag_seconds: span && from !== undefined ? span.newest - from : null,
    }
  })
}

/**
 * Per job: its runs by outcome, in total and in the day before `now`, the median duration of that day, and how long
 * after their time slots were completed. A slot that is recorded as done more than once under a revision counts once, as it was
 * first: that happens if a pass is killed while it is being recorded and repeated with other slots. No row for a job that never
 * ran. Reads single runs only of that day (clickhouse/schema/0014_operations.sql).
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
    SELECT job, toUInt32(sumIf(runs, state = 'done')) AS done, toUInt32(sumIf(runs, state = 'failed')) AS failed,
           toUInt32(countIf(state = 'done' AND is_new)) AS done_24h, toUInt32(countIf(state = 'failed' AND is_new)) AS failed_24h,
           quantileExactIfOrNull(0.5)(duration_ms, state = 'done' AND is_new) AS median_ms_24h,
           ${DELAYS.replaceAll('ended_at >', "state = 'done' AND ended_at >")}
    FROM
    (
        SELECT job, state, runs, 0 AS duration_ms, toDateTime64(0, 3, 'UTC') AS ended_at, 0 AS delay
        FROM
        (
            SELECT job, state, if(state = 'done', bitmapCardinality(${SLOTS_OF_DAY}), count()) AS runs
            FROM job_runs GROUP BY job, state, toDate(slot_at), revision
        )
        UNION ALL
        SELECT job, state, 0 AS runs, duration_ms, addMilliseconds(started_at, duration_ms) AS ended_at,
               dateDiff('millisecond', toDateTime64(slot_at, 3, 'UTC'), ended_at) / 1000 AS delay
        FROM job_runs WHERE addMilliseconds(started_at, duration_ms) > {now: DateTime64(3)} - INTERVAL 1 DAY
        ORDER BY ended_at
        LIMIT 1 BY job, state, slot_at, revision, if(state = 'done', toDateTime64(0, 3, 'UTC'), started_at)
    )
    GROUP BY job ORDER BY job`,
})
