import type { ClickHouseClient } from '@clickhouse/client'
import { insertJobRun, type JobRun } from '../../clickhouse/jobs/runs.js'
import type { PassTask, Slot, Task } from '../../jobs/schedule/run-slots.js'
import { depth } from './depth.js'

/** The revisions under which a drill runs slots again, or replaces blocks, one after the other. */
export const REVISIONS = Array.from({ length: depth('REVISIONS', 2, 3) }, (_, i) => i + 1)

type Job = {
  job: string
  periodSeconds: number
  task: Task
}

/** A task for passes as one for single slots: each pass has one. */
export const alone =
  (pass: PassTask['pass']): Task =>
  async (clickhouse, slot) =>
    (await pass(clickhouse, [slot]))[0] ?? 0

/** A slot of a job at a time in unix seconds. */
export const slotAt = (job: string, at: number, revision = 0): Slot => ({
  job,
  at: new Date(at * 1000),
  revision,
  read_since: 0,
  token: `${job}:${at}:${revision}`,
})

/** The slots of a job in (from, to], unix seconds, oldest first. */
export function slotsOf({ job, periodSeconds }: Omit<Job, 'task'>, from: number, to: number, revision = 0): Slot[] {
  const slots: Slot[] = []
  for (let at = (Math.floor(from / periodSeconds) + 1) * periodSeconds; at <= to; at += periodSeconds)
    slots.push(slotAt(job, at, revision))
  return slots
}

const runOf = (slot: Slot, result_rows: number): JobRun => ({
  job: slot.job,
  slot_at: slot.at.getTime() / 1000,
  revision: slot.revision,
  state: 'done',
  result_rows,
  error: '',
  started_at: '2026-01-01 00:00:00.000',
  duration_ms: 0,
  instance: 'test',
})

/** Runs one slot after the other and records them in the ledger, as the scheduler does. */
export async function runSlots(clickhouse: ClickHouseClient, job: Job, slots: readonly Slot[]): Promise<void> {
  for (const slot of slots) await insertJobRun(clickhouse, runOf(slot, await job.task(clickhouse, slot)))
}

/**
 * Runs all slots in one pass, as the scheduler does after a stall, and records them: what the slots one after another write, which
 * jobs/detect/passes.test.ts shows, in a fraction of the time.
 */
export async function runPass(
  clickhouse: ClickHouseClient,
  { pass }: Job & PassTask,
  slots: readonly Slot[],
): Promise<void> {
  const [first, ...others] = slots
  if (first === undefined) return
  const results = await pass(clickhouse, [first, ...others])
  const values = slots.map((slot, i) => runOf(slot, results[i] ?? 0))
  await clickhouse.insert({ table: 'job_runs', values, format: 'JSONEachRow' })
}

/** Records slots as done without running them: nothing is found in them. */
export async function skipSlots(clickhouse: ClickHouseClient, slots: readonly Slot[]): Promise<void> {
  await clickhouse.insert({ table: 'job_runs', values: slots.map((slot) => runOf(slot, 0)), format: 'JSONEachRow' })
}
