import { parentPort, workerData } from 'node:worker_threads'
import type { Logger } from 'pino'
import { SLOT_JOBS, type SlotJob } from '../../clickhouse/jobs/periods.js'
import { connect } from '../../clickhouse/store/client.js'
import { parseEnv } from '../../process/environment.js'
import { createLog } from '../../process/run-process.js'
import { JobsConfig } from '../config.js'
import { checkTerm } from '../lease/term.js'
import { type PassTask, runSlots, type Task } from './run-slots.js'

/** The data passed to a worker: the lease that it runs under, and the memory of its LeaseValidity. */
export type WorkerData = { term: number; instance: string; validity: SharedArrayBuffer }

/**
 * A worker's messages: the slot that it begins (in unix seconds), null when the slot has ended, and at the end how many
 * slots it has done and whether more are due. A worker that runs continuously sends `alive` as its heartbeat.
 */
export type WorkerMessage =
  | 'alive'
  | { slot: { at: number; revision: number } | null }
  | { done: number; more: boolean }
  | 'done'

/**
 * The maximum number of slots of a run: one after another, and in passes. The next run begins at once, so that no worker
 * runs, or grows, without limit.
 */
const MAX_SLOTS_PER_RUN = 500
const MAX_SLOTS_IN_PASSES = 20_000
const HEARTBEAT_MS = 1000

/** What a worker works with. `signal` aborts when the jobs process cancels the worker. */
type Running = {
  config: JobsConfig
  lease: WorkerData
  log: Logger
  signal: AbortSignal
  post: (message: WorkerMessage) => void
}

/** Runs a worker's work and always reports its end. An error is logged with the message `failure`. */
async function runWorker(name: string, failure: string, work: (running: Running) => Promise<void>): Promise<void> {
  const config = parseEnv(JobsConfig, process.env)
  const log = createLog(name, config.LOG_LEVEL)
  const cancel = new AbortController()
  const post = (message: WorkerMessage): void => parentPort?.postMessage(message)
  parentPort?.on('message', (message) => {
    if (message === 'cancel') cancel.abort()
  })
  try {
    await work({ config, lease: workerData as WorkerData, log, signal: cancel.signal, post })
  } catch (error) {
    log.error({ reason: error instanceof Error ? error.message : String(error) }, failure)
  } finally {
    post('done')
  }
}

/** Runs the work of a worker that runs until it is canceled, and sends heartbeats meanwhile. */
export const runContinuousWorker = (
  name: string,
  failure: string,
  work: (running: Running) => Promise<void>,
): Promise<void> =>
  runWorker(name, failure, async (running) => {
    const alive = setInterval(() => running.post('alive'), HEARTBEAT_MS)
    await work(running).finally(() => clearInterval(alive))
  })

/** A complete worker that runs the due slots of a job. */
export async function runSlotWorker(
  name: string,
  task: Task | PassTask,
  jobs: readonly SlotJob[] = SLOT_JOBS,
): Promise<void> {
  const job = jobs.find((job) => job.name === name)
  if (!job) throw new Error(`there is no job ${name}`)
  await runWorker(name, 'slots could not be run', async ({ config, lease, log, signal, post }) => {
    const clickhouse = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 4 })
    try {
      const result = await runSlots({
        clickhouse,
        job,
        task,
        jobs,
        instance: lease.instance,
        quietSeconds: config.BACKFILL_QUIET_SECONDS,
        checkLease: () => checkTerm(clickhouse, lease),
        onSlot: (slot) => post({ slot: slot && { at: slot.at.getTime() / 1000, revision: slot.revision } }),
        log,
        signal,
        limit: typeof task === 'function' ? MAX_SLOTS_PER_RUN : MAX_SLOTS_IN_PASSES,
      })
      post(result)
    } finally {
      await clickhouse.close()
    }
  })
}
