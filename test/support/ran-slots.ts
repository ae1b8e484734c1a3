import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { SLOT_JOBS, type SlotJob } from '../../clickhouse/jobs/periods.js'
import { FLOW_ANOMALIES_TASK } from '../../jobs/detect/flow-anomalies.js'
import { detectPegEvents } from '../../jobs/detect/peg-events.js'
import { detectPegTracks } from '../../jobs/detect/peg-tracks.js'
import { detectUnusualFlows } from '../../jobs/detect/unusual-flows.js'
import { type PassTask, runSlots, type Slot, type SlotRun, type Task } from '../../jobs/schedule/run-slots.js'
import { snapshotHolders } from '../../jobs/snapshot/holders.js'
import { snapshotReserves } from '../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../jobs/snapshot/risk.js'

/** A time with slots of every period, in unix seconds. */
export const HOUR = 1_760_000_400

/** A job for tests. */
export const MINUTES: SlotJob = { name: 'minutes', period_seconds: 60 }

/**
 * Runs the due slots of a job, with backfills that count as over at once, and returns its slots as (seconds after HOUR,
 * revision).
 */
export async function ran(clickhouse: ClickHouseClient, job: SlotJob, changes: Partial<SlotRun> = {}) {
  const slots: Slot[] = []
  const result = await runSlots({
    clickhouse,
    job,
    jobs: [],
    instance: randomUUID(),
    quietSeconds: 0,
    checkLease: async () => {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    limit: 1000,
    ...changes,
    task: noted(changes.task ?? (async () => 7), slots),
  })
  return { ...result, slots: slots.map(({ at, revision }) => [at.getTime() / 1000 - HOUR, revision]) }
}

/** The same task, which adds the slots that it has done to `done`. */
function noted(task: Task | PassTask, done: Slot[]): Task | PassTask {
  if (typeof task === 'function')
    return async (clickhouse, slot) => {
      const rows = await task(clickhouse, slot)
      done.push(slot)
      return rows
    }
  return {
    pass: async (clickhouse, slots) => {
      const rows = await task.pass(clickhouse, slots)
      done.push(...slots)
      return rows
    },
  }
}

const TASKS: Readonly<Record<string, Task | PassTask>> = {
  'peg-events': { pass: detectPegEvents },
  'peg-tracks': { pass: detectPegTracks },
  risk: snapshotRisk,
  reserves: snapshotReserves,
  holders: snapshotHolders,
  'flow-anomalies': FLOW_ANOMALIES_TASK,
  'unusual-flows': detectUnusualFlows,
}

/** Runs all due slots of the product's jobs of these names, with backfills that count as over after this long. */
export async function runJobs(clickhouse: ClickHouseClient, names: readonly string[], quietSeconds = 0): Promise<void> {
  for (const job of SLOT_JOBS) {
    const task = TASKS[job.name]
    if (task && names.includes(job.name)) await ran(clickhouse, job, { jobs: SLOT_JOBS, task, quietSeconds })
  }
}
