import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import type { SearchedStretch } from '../chain/searched.js'
import { defineQuery, type ReadOptions } from '../store/define-query.js'
import type { SlotJob } from './periods.js'
import { KnownAt } from './publications.js'

const count = z.int().nonnegative()

/** A rollback or a change of history: slots from `kept_time` on have to be done under this revision or a later one. */
const Revision = z.object({ kept_time: count, revision: count })
export type Revision = z.infer<typeof Revision>

/** What was known of rollbacks and changes of history at an instant. A rollback counts from when it was planned. */
const historyRevisions = defineQuery({
  name: 'history_revisions',
  params: z.object({ known_at: KnownAt }),
  row: Revision,
  sql: `
    SELECT toUnixTimestamp(kept_time) AS kept_time, toUInt32(revision) AS revision FROM history_revisions
    WHERE recorded_at <= {known_at: DateTime64(3)} AND (is_done OR {known_at: DateTime64(3)} <= now64(3))
    ORDER BY history_revisions.kept_time, history_revisions.revision`,
})

/**
 * What a job has done of a day, counted from 1970, under one revision: the times of slots within the day in seconds, null for
 * all slots of the day.
 */
export type DayOfRuns = { day: number; revision: number; seconds: readonly number[] | null }

/** SQL: the slots of the runs in a group, as seconds of their day. The engine keeps it by day, as long as it is asked for so. */
export const SLOTS_OF_DAY = `groupBitmapState(toUnixTimestamp(slot_at) % ${DAY_SECONDS})`
const ENDED_AT = 'addMilliseconds(started_at, duration_ms)'

/**
 * For each job, day from that of `from_time` on, and revision: the seconds of the slots that were done, or how many were if
 * these are all of the day's. Without those of which none had been done by `known_at`; `is_known` if all had. Reads a row for
 * each (projection `days`).
 */
const daysOfRuns = defineQuery({
  name: 'days_of_runs',
  params: z.object({ jobs: z.array(z.string()), slots_a_day: z.array(count), from_time: count, known_at: KnownAt }),
  row: z.object({
    job: z.string(),
    day: count,
    revision: count,
    is_known: z.boolean(),
    is_whole: z.boolean(),
    seconds: z.array(count),
  }),
  sql: `
    SELECT job, toUInt32(toDate(slot_at)) AS day, revision, (max(${ENDED_AT}) <= {known_at: DateTime64(3)})::Bool AS is_known,
           (bitmapCardinality(${SLOTS_OF_DAY}) = {slots_a_day: Array(UInt32)}[indexOf({jobs: Array(String)}, job)])::Bool AS is_whole,
           if(is_whole, [], bitmapToArray(${SLOTS_OF_DAY})) AS seconds
    FROM job_runs
    WHERE job IN {jobs: Array(String)} AND state = 'done' AND toDate(slot_at) >= toDate(toDateTime({from_time: UInt32}, 'UTC'))
    GROUP BY job, toDate(slot_at), revision
    HAVING min(${ENDED_AT}) <= {known_at: DateTime64(3)}`,
})

/** What had been done of some days by `known_at`, run by run. */
const runsOfDays = defineQuery({
  name: 'runs_of_days',
  params: z.object({ jobs: z.array(z.string()), days: z.array(count), known_at: KnownAt }),
  row: z.object({ job: z.string(), day: count, revision: count, seconds: z.array(count) }),
  sql: `
    SELECT job, toUInt32(toDate(slot_at)) AS day, revision, groupUniqArray(toUnixTimestamp(slot_at) % ${DAY_SECONDS}) AS seconds
    FROM job_runs
    WHERE job IN {jobs: Array(String)} AND state = 'done' AND toUInt32(toDate(slot_at)) IN {days: Array(UInt32)}
      AND ${ENDED_AT} <= {known_at: DateTime64(3)}
    GROUP BY job, day, revision`,
})

/** The slots that jobs have done since the last rollback or change of history that may have affected them. */
export type DoneSlots = {
  /** The rollbacks and changes of history that this is based on, by time. */
  revisions: readonly Revision[]
  /** The runs of a job, by day; see `doneStretches`. */
  runsOf: (job: string) => readonly DayOfRuns[]
}

/**
 * What some jobs have done from the day of `from_time` on, with `known_at` as it was then. Reads a row for each day, and single
 * runs only of days in the middle of which `known_at` is. Rejects with QueryError.
 */
export async function readDoneSlots(
  clickhouse: ClickHouseClient,
  {
    jobs,
    from_time = 0,
    known_at,
  }: {
    jobs: readonly Pick<SlotJob, 'name' | 'period_seconds'>[]
    from_time?: number
    known_at?: Date | null | undefined
  },
  options?: ReadOptions,
): Promise<DoneSlots> {
  const names = jobs.map(({ name }) => name)
  const slots_a_day = jobs.map(({ period_seconds }) => DAY_SECONDS / period_seconds)
  const [revisions, read] = await Promise.all([
    historyRevisions(clickhouse, { known_at }, options),
    daysOfRuns(clickhouse, { jobs: names, slots_a_day, from_time, known_at }, options),
  ])
  const days = [...new Set(read.flatMap(({ day, is_known }) => (is_known ? [] : [day])))]
  const runs = days.length === 0 ? [] : await runsOfDays(clickhouse, { jobs: names, days, known_at }, options)
  const byDay = [
    ...read
      .filter(({ day }) => !days.includes(day))
      .map(({ is_known: _, is_whole, seconds, ...run }) => ({ ...run, seconds: is_whole ? null : seconds })),
    ...runs,
  ]
  return { revisions, runsOf: (job) => byDay.filter((run) => run.job === job) }
}

/** Joins stretches that come in order and do not overlap. */
function appendTo(stretches: SearchedStretch[], { from, until }: SearchedStretch): void {
  const last = stretches.at(-1)
  if (last?.until === from) last.until = until
  else stretches.push({ from, until })
}

/** A function that returns the revision that a slot needs to have, 0 for any. Revisions are ordered by time. */
function revisionNeeded(revisions: readonly Revision[]): (slot: number) => number {
  let highest = 0
  const steps = revisions.map(({ kept_time, revision }) => {
    highest = Math.max(highest, revision)
    return { kept_time, revision: highest }
  })
  return (slot) => steps.findLast(({ kept_time }) => kept_time <= slot)?.revision ?? 0
}

/**
 * The stretches of time of which a job has done every slot under the revision that the slot needs or a later one, in order and
 * apart from each other. A slot stands for the time since the slot before it.
 */
export function doneStretches(
  runs: readonly DayOfRuns[],
  revisions: readonly Revision[],
  period_seconds: number,
): SearchedStretch[] {
  const neededAt = revisionNeeded(revisions)
  const allSlots = Array.from({ length: DAY_SECONDS / period_seconds }, (_, i) => i * period_seconds)
  const stretches: SearchedStretch[] = []
  const byDay = new Map<number, DayOfRuns[]>()
  for (const run of runs) byDay.set(run.day, [...(byDay.get(run.day) ?? []), run])
  for (const [day, ofDay] of [...byDay].sort(([a], [b]) => a - b)) {
    const start = day * DAY_SECONDS
    const isWhole = ofDay.some(
      ({ seconds, revision }) => seconds === null && revision >= neededAt(start + DAY_SECONDS - 1),
    )
    if (isWhole) {
      appendTo(stretches, { from: start - period_seconds, until: start + DAY_SECONDS - period_seconds })
      continue
    }
    const slots = new Set<number>()
    for (const { seconds, revision } of ofDay)
      for (const second of seconds ?? allSlots) if (revision >= neededAt(start + second)) slots.add(start + second)
    for (const slot of [...slots].sort((a, b) => a - b))
      appendTo(stretches, { from: slot - period_seconds, until: slot })
  }
  return stretches
}

/** The stretches of the slots between two times, both excluded, that `done` leaves out; all in unix seconds. */
export function undoneStretches(
  done: readonly SearchedStretch[],
  { period_seconds, from_time, to_time }: { period_seconds: number; from_time: number; to_time: number },
): SearchedStretch[] {
  const last = (Math.ceil(to_time / period_seconds) - 1) * period_seconds
  let until = Math.floor(from_time / period_seconds) * period_seconds
  const undone: SearchedStretch[] = []
  for (const stretch of done) {
    if (stretch.from > until && until < last) undone.push({ from: until, until: Math.min(stretch.from, last) })
    until = Math.max(until, stretch.until)
  }
  if (until < last) undone.push({ from: until, until: last })
  return undone
}
