import { parentPort, workerData } from 'node:worker_threads'
import type { Logger } from 'pino'
import { SLOT_JOBS, type SlotJob } from '../../clickhouse/jobs/periods.js'
import { connect } from '../../clickhouse/store/client.js'
import { parseEnv } from '../../process/environment.js'
import { createLog } from '../../process/run-process.js'
import { JobsConfig } from '../config.js'
import { checkTerm } from '../lease/term.js'
import { runSlots, type Task } from './run-slots.js'

/** What a worker is given: the lease that it runs under, and the memory of its LeaseValidity. */
export type WorkerData = { term: number; instance: string; validity: SharedArrayBuffer }

/**
 * What a worker reports: the slot that it begins (in unix seconds), that a slot has ended, and at the end how many it has
 * done and whether more are due. A worker that runs continuously reports regularly that it is alive.
 */
export type WorkerMessage =
  | 'alive'
  | { slot: { at: number; revision: number } | null }
  | { done: number; more: boolean }
  | 'done'

/** A run is this long at most; the next one begins at once. A worker keeps nothing that would grow with it. */
const SLOTS_OF_A_RUN = 500

/**
 * A backfill that has written nothing for this long is over, as a rule. All that it has added is then taken in at once:
 * after each part, all later slots would have to be done again.
 */
const QUIET_SECONDS = 60

/** What a worker works with. `signal` aborts when the jobs process cancels the worker. */
type Running = {
  config: JobsConfig
  lease: WorkerData
  log: Logger
  signal: AbortSignal
  tell: (message: WorkerMessage) => void
}

/** Runs the work of a worker from its start to its end, which it always reports. An error is logged as `failure`. */
export async function runWorker(
  name: string,
  failure: string,
  work: (running: Running) => Promise<void>,
): Promise<void> {
  const config = parseEnv(JobsConfig, process.env)
  const log = createLog(name, config.LOG_LEVEL)
  const cancel = new AbortController()
  const tell = (message: WorkerMessage): void => parentPort?.postMessage(message)
  parentPort?.on('message', (message) => {
    if (message === 'cancel') cancel.abort()
  })
  try {
    await work({ config, lease: workerData as WorkerData, log, signal: cancel.signal, tell })
  } catch (error) {
    log.error({ reason: error instanceof Error ? error.message : String(error) }, failure)
  } finally {
    tell('done')
  }
}

/** The whole of a worker that runs the due slots of a job. */
export async function runSlotWorker(name: string, task: Task, jobs: readonly SlotJob[] = SLOT_JOBS): Promise<void> {
  const job = jobs.find((job) => job.name === name)
  if (!job) throw new Error(`there is no job ${name}`)
  await runWorker(name, 'the slots cannot be run', async ({ config, lease, log, signal, tell }) => {
    const clickhouse = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 4 })
    try {
      const result = await runSlots({
        clickhouse,
        job,
        task,
        jobs,
        instance: lease.instance,
        quietSeconds: QUIET_SECONDS,
        checkLease: () => checkTerm(clickhouse, lease),
        onSlot: (slot) => tell({ slot: slot && { at: slot.at.getTime() / 1000, revision: slot.revision } }),
        log,
        signal,
        limit: SLOTS_OF_A_RUN,
      })
      tell(result)
    } finally {
      await clickhouse.close()
    }
  })
}
