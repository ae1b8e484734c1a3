import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { type DoneSlots, readDoneSlots } from '../../clickhouse/jobs/done-slots.js'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { insertJobRun, insertJobRuns } from '../../clickhouse/jobs/runs.js'
import { dueSlots, type SlotHistory, slotHistory, waitingUntil } from '../../clickhouse/jobs/slots.js'
import { invalidateBackfilledSlots } from './invalidate-slots.js'

/** One due run of a job. Its work is a function of the facts with block_time <= `at`. */
export type Slot = {
  job: string
  at: Date
  /**
   * Increases by one with each rollback of reorganized blocks and with each backfill; a slot that must be run again has
   * a higher one.
   */
  revision: number
  /** Since when everything is read, in unix seconds: 0 if since the chain's first block. */
  read_since: number
  /** Identifies the slot and its revision. The rows of a run are inserted with it, so that a repeat changes nothing. */
  token: string
}

/** Consecutive slots of a job under one revision, oldest first. */
export type Slots = readonly [Slot, ...Slot[]]

/** Does the work of a slot and resolves to the number of rows it wrote. Repeating it changes nothing. */
export type Task = (clickhouse: ClickHouseClient, slot: Slot) => Promise<number>

/**
 * Does the work of consecutive slots in one pass, with the result of doing them one after another. Resolves to the number of
 * rows of each. Repeating it, also with other slots before or after them, changes nothing. `firstSlots` is how many slots the first
 * pass of a call has: more where a pass costs much that does not grow with its slots.
 */
export type PassTask = {
  pass: (clickhouse: ClickHouseClient, slots: Slots) => Promise<number[]>
  firstSlots?: number
}

export type SlotRun = {
  clickhouse: ClickHouseClient
  job: SlotJob
  task: Task | PassTask
  /** The jobs that `job.after` names. */
  jobs: readonly SlotJob[]
  /** Random id of the process. */
  instance: string
  /** A backfill counts as completed when it has written nothing for this many seconds. */
  quietSeconds: number
  /**
   * Rejects if another process has taken over the jobs. Called before the first slot, and before slots are recorded as
   * done.
   */
  checkLease: () => Promise<void>
  /** Called with each slot that begins, or the first one of a pass, and with null when it has ended. */
  onSlot?: (slot: Slot | null) => void
  log: Logger
  signal: AbortSignal
  /** The most slots of one call. */
  limit: number
}

/** How often a long catch-up logs its progress, in slots. */
const PROGRESS_SLOTS = 100

const tokenOf = (job: SlotJob, at: number, revision: number): string => `${job.name}:${at}:${revision}`

/**
 * The slots of a job that are due now, in order of time and at most `limit` of those that come first: those up to the newest block
 * that were never done, or not since a rollback removed or a backfill added facts of theirs. No slot that waits: before the newest gap
 * in the blocks, before the start of the tip and of all recorded backfills, or without the history that the job needs.
 * And none after the newest slots of the jobs that it depends on.
 */
export async function findDueSlots(
  clickhouse: ClickHouseClient,
  job: SlotJob,
  jobs: readonly SlotJob[],
  limit: number,
): Promise<Slot[]> {
  const history = await slotHistory(clickhouse)
  if (!history) return []
  const done = await readDoneSlots(clickhouse, {
    jobs: [job, ...jobsBefore(job, jobs)],
    from_time: waitingUntil(job, history).until,
  })
  return dueSlotsIn(history, done, job, jobs, limit)
}

/** The jobs that a job depends on. */
const jobsBefore = ({ after = [] }: SlotJob, jobs: readonly SlotJob[]): SlotJob[] =>
  jobs.filter(({ name }) => after.includes(name))

/**
 * A function that resolves to the names of those of the given jobs that have a slot to do now; `jobs` has those that they depend
 * on. A job without such a slot has none until its history changes or the newest block is after another of its slots, and is not
 * looked up before, unless it waits for other jobs.
 */
export function createDueLook(
  clickhouse: ClickHouseClient,
  jobs: readonly SlotJob[],
): (wanted: readonly SlotJob[]) => Promise<string[]> {
  /** By job, the state in which it had nothing to do. */
  const idle = new Map<string, string>()
  return async (wanted) => {
    const history = await slotHistory(clickhouse)
    if (!history) return []
    const stateOf = (job: SlotJob): string =>
      `${history.revision} ${waitingUntil(job, history).until} ${Math.ceil(history.to_time / job.period_seconds)}`
    const candidates = wanted.filter((job) => job.after || idle.get(job.name) !== stateOf(job))
    if (candidates.length === 0) return []
    const done = await readDoneSlots(clickhouse, {
      jobs: [...new Set(candidates.flatMap((job) => [job, ...jobsBefore(job, jobs)]))],
      from_time: Math.min(...candidates.map((job) => waitingUntil(job, history).until)),
    })
    return candidates.flatMap((job) => {
      const isDue = dueSlotsIn(history, done, job, jobs, 1).length > 0
      if (isDue) idle.delete(job.name)
      else idle.set(job.name, stateOf(job))
      return isDue ? [job.name] : []
    })
  }
}

function dueSlotsIn(
  history: SlotHistory,
  done: DoneSlots,
  job: SlotJob,
  jobs: readonly SlotJob[],
  limit: number,
): Slot[] {
  const { revision, read_since } = history
  const from_time = waitingUntil(job, history).until
  let { to_time } = history
  for (const { name, period_seconds } of jobsBefore(job, jobs)) {
    const range = { period_seconds, from_time, to_time: history.to_time }
    const [missing] = dueSlots(done, { job: name, ...range, limit: 1 })
    const next = missing ?? Math.ceil(history.to_time / period_seconds) * period_seconds
    to_time = Math.min(to_time, next - period_seconds + 1)
  }
  if (to_time <= from_time) return []
  const { name, period_seconds, newest_first } = job
  const due = dueSlots(done, { job: name, period_seconds, from_time, to_time, limit, newest_first })
  return due.map((slot_at) => ({
    job: name,
    at: new Date(slot_at * 1000),
    revision,
    read_since,
    token: tokenOf(job, slot_at, revision),
  }))
}

/**
 * How long a pass should take, in milliseconds: much longer than what it costs beside its slots, and so short that little is
 * repeated after a kill and little memory is needed.
 */
const PASS_MS = 2000
/** The slots of the first pass of a call, unless the task has another number. */
const FIRST_PASS_SLOTS = 64

/**
 * Runs the slots of a job that are due, the oldest or the newest first as the job demands, and records how each ended. The slots of
 * one pass are in order of time in any case. Stops at the first that fails, which stays due, and
 * when `signal` aborts. Slots that may be done in one pass are: each pass has twice as many as the one before, or half as many,
 * by how long that one took. If a pass fails, half of it is tried, so that in the end the slot at fault is alone. Resolves to
 * the number of slots done, and whether more are due immediately. Rejects if runs cannot be read or recorded, or if the lease is
 * lost.
 */
export async function runSlots(run: SlotRun): Promise<{ done: number; more: boolean }> {
  const { clickhouse, job, jobs, task, log, signal, limit } = run
  await invalidateBackfilledSlots(run)
  const slots = await findDueSlots(clickhouse, job, jobs, limit)
  const started = Date.now()
  let done = 0
  let most = typeof task === 'function' ? 1 : (task.firstSlots ?? FIRST_PASS_SLOTS)
  if (slots.length > 0) await run.checkLease()
  while (done < slots.length) {
    const pass = nextPass(slots, done, job, most)
    if (signal.aborted) return { done, more: false }
    const passStarted = Date.now()
    if (await runPass(run, pass)) {
      const before = Math.floor(done / PROGRESS_SLOTS)
      done += pass.length
      if (Math.floor(done / PROGRESS_SLOTS) > before && done < slots.length)
        log.info({ slot: pass.at(-1)?.at, done, of: slots.length, ms: Date.now() - started }, 'catching up')
      if (typeof task === 'function') continue
      const ms = Date.now() - passStarted
      most = Math.max(1, ms > PASS_MS ? Math.floor(most / 2) : ms < PASS_MS / 2 ? most * 2 : most)
    } else if (pass.length > 1) most = Math.floor(pass.length / 2)
    else return { done, more: false }
  }
  if (done > 0)
    log.info({ slot: slots.at(job.newest_first ? 0 : -1)?.at, done, ms: Date.now() - started }, 'slots done')
  return { done, more: slots.length === limit }
}

/** The next slots that follow one another without a hole, at most so many, if so many are done at the end that comes first. */
function nextPass(
  slots: readonly Slot[],
  done: number,
  { newest_first, period_seconds }: SlotJob,
  most: number,
): Slots {
  const [first, step] = newest_first ? [slots.length - 1 - done, -1] : [done, 1]
  const atMs = (i: number): number => slots[i]?.at.getTime() ?? Number.NaN
  let count = 1
  while (count < most && atMs(first + step * count) - atMs(first + step * (count - 1)) === step * period_seconds * 1000)
    count++
  const from = newest_first ? first - count + 1 : first
  return slots.slice(from, from + count) as unknown as Slots
}

/** Runs slots and records how they ended, the failure of a single one only; resolves to whether they are done. */
async function runPass(run: SlotRun, slots: Slots): Promise<boolean> {
  const { clickhouse, task, instance, checkLease, onSlot, log } = run
  const [slot] = slots
  onSlot?.(slot)
  const startedAt = Date.now()
  let rows: number[]
  try {
    rows = typeof task === 'function' ? [await task(clickhouse, slot)] : await task.pass(clickhouse, slots)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const { revision } = slot
    log.error({ slot: slot.at, slots: slots.length, revision, reason }, 'a slot failed; it will be retried')
    if (slots.length === 1) {
      const end = { state: 'failed', result_rows: 0, error: reason } as const
      await insertJobRun(clickhouse, { ...jobRunOf(slot, instance, startedAt), ...end })
    }
    onSlot?.(null)
    return false
  }
  await checkLease()
  // A slot has its share of the time, and is done when the pass is: what it has found was not stored earlier.
  const ms = Date.now() - startedAt
  const share = jobRunOf(slot, instance, startedAt + ms - Math.ceil(ms / slots.length))
  await insertJobRuns(
    clickhouse,
    slots.map(({ at }, i) => ({
      ...share,
      slot_at: at.getTime() / 1000,
      state: 'done',
      result_rows: rows[i] ?? 0,
      error: '',
    })),
  )
  onSlot?.(null)
  log.debug({ slot: slot.at, slots: slots.length, revision: slot.revision, rows, ms }, 'slots done')
  return true
}

/** The fields of a run other than its outcome. `startedAt` in unix milliseconds. */
export const jobRunOf = (
  { job, at, revision }: Pick<Slot, 'job' | 'at' | 'revision'>,
  instance: string,
  startedAt: number,
) => ({
  job,
  slot_at: at.getTime() / 1000,
  revision,
  started_at: (startedAt / 1000).toFixed(3),
  duration_ms: Date.now() - startedAt,
  instance,
})
