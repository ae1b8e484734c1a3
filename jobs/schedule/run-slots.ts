import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { insertJobRun, type JobRun } from '../../clickhouse/jobs/runs.js'
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

/** Does the work of a slot and resolves to the number of rows it wrote. Repeating it changes nothing. */
export type Task = (clickhouse: ClickHouseClient, slot: Slot) => Promise<number>

export type SlotRun = {
  clickhouse: ClickHouseClient
  job: SlotJob
  task: Task
  /** The jobs that `job.after` names. */
  jobs: readonly SlotJob[]
  /** Random id of the process. */
  instance: string
  /** A backfill counts as completed when it has written nothing for this many seconds. */
  quietSeconds: number
  /**
   * Rejects if another process has taken over the jobs. Called before the first slot, and before each slot is recorded
   * as done.
   */
  checkLease: () => Promise<void>
  /** Called with each slot that begins, and with null when it has ended. */
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
 * The slots of a job that are due now, oldest first and at most `limit`: those up to the newest block that were never
 * done, or not since a rollback removed or a backfill added facts of theirs. No slot that waits: before the newest gap
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
  return history ? dueSlotsIn(history, clickhouse, job, jobs, limit) : []
}

/** The names of those of `wanted` that have a slot to do now; `jobs` has those that they depend on. */
export async function jobsWithDueSlots(
  clickhouse: ClickHouseClient,
  wanted: readonly SlotJob[],
  jobs: readonly SlotJob[],
): Promise<string[]> {
  const history = await slotHistory(clickhouse)
  if (!history) return []
  const due = await Promise.all(wanted.map((job) => dueSlotsIn(history, clickhouse, job, jobs, 1)))
  return wanted.filter((_, i) => due[i]?.length).map(({ name }) => name)
}

async function dueSlotsIn(
  history: SlotHistory,
  clickhouse: ClickHouseClient,
  job: SlotJob,
  jobs: readonly SlotJob[],
  limit: number,
): Promise<Slot[]> {
  const { revision, read_since } = history
  const from_time = waitingUntil(job, history).until
  let { to_time } = history
  for (const { name, period_seconds } of jobs.filter(({ name }) => job.after?.includes(name))) {
    const [missing] = await dueSlots(clickhouse, {
      job: name,
      period_seconds,
      from_time,
      to_time: history.to_time,
      limit: 1,
    })
    const next = missing ?? Math.ceil(history.to_time / period_seconds) * period_seconds
    to_time = Math.min(to_time, next - period_seconds + 1)
  }
  if (to_time <= from_time) return []
  const { name, period_seconds } = job
  const due = await dueSlots(clickhouse, { job: name, period_seconds, from_time, to_time, limit })
  return due.map((slot_at) => ({
    job: name,
    at: new Date(slot_at * 1000),
    revision,
    read_since,
    token: tokenOf(job, slot_at, revision),
  }))
}

/**
 * Runs the slots of a job that are due, one after another, and records how each ended. Stops at the first that fails,
 * which stays due, and when `signal` aborts. Resolves to the number of slots done, and whether more are due
 * immediately. Rejects if runs cannot be read or recorded, or if the lease is lost.
 */
export async function runSlots(run: SlotRun): Promise<{ done: number; more: boolean }> {
  const { clickhouse, job, jobs, log, signal, limit } = run
  await invalidateBackfilledSlots(run)
  const slots = await findDueSlots(clickhouse, job, jobs, limit)
  const started = Date.now()
  let done = 0
  if (slots.length > 0) await run.checkLease()
  for (const slot of slots) {
    if (signal.aborted || !(await runSlot(run, slot))) return { done, more: false }
    done++
    if (done % PROGRESS_SLOTS === 0 && done < slots.length)
      log.info({ slot: slot.at, done, of: slots.length, ms: Date.now() - started }, 'catching up')
  }
  if (done > 0) log.info({ slot: slots.at(-1)?.at, done, ms: Date.now() - started }, 'slots done')
  return { done, more: slots.length === limit }
}

/** Runs a slot and records how it ended; resolves to whether it is done. */
async function runSlot(run: SlotRun, slot: Slot): Promise<boolean> {
  const { clickhouse, task, instance, checkLease, onSlot, log } = run
  onSlot?.(slot)
  const startedAt = Date.now()
  const record = (end: Pick<JobRun, 'state' | 'result_rows' | 'error'>): Promise<void> =>
    insertJobRun(clickhouse, { ...jobRunOf(slot, instance, startedAt), ...end })
  let rows: number
  try {
    rows = await task(clickhouse, slot)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.error({ slot: slot.at, revision: slot.revision, reason }, 'a slot failed; it will be retried')
    await record({ state: 'failed', result_rows: 0, error: reason })
    onSlot?.(null)
    return false
  }
  await checkLease()
  await record({ state: 'done', result_rows: rows, error: '' })
  onSlot?.(null)
  log.debug({ slot: slot.at, revision: slot.revision, rows, ms: Date.now() - startedAt }, 'slot done')
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
