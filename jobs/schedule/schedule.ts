import Bree from 'bree'
import type { Logger } from 'pino'
import type { WorkerData, WorkerMessage } from './run-worker.js'

/** A worker and when it is run. */
export type ScheduledJob = {
  name: string
  path: string
  /** Seconds between two slots, which divide an hour; null: it runs all the time, and tells that it is alive. */
  period_seconds: number | null
  /** Jobs behind which it is run as well, when they have done something. */
  after?: readonly string[]
}

/** What a worker was doing when it was found stuck. */
export type StuckRun = { job: string; slot: { at: number; revision: number; startedAt: number } | null; error: string }

type Options = {
  jobs: readonly ScheduledJob[]
  workerData: WorkerData
  /** A worker of slots that tells nothing for so long is ended, and run again at its next time. */
  stuckAfterMs: number
  onStuck: (run: StuckRun) => Promise<void>
  log: Logger
  signal: AbortSignal
}

/** By then the block after a slot that ends with the minute has been read, as a rule. */
const SECOND_OF_RUN = 5
/**
 * Every job looks for due slots each minute, whatever its period: a slot may become due late, when ingest is behind, and
 * the next one may be an hour away.
 */
const LOOK_SECONDS = 60
/**
 * Workers that are asked to stop get so long for what they are at: a slot, which is repeated where it was cut off, or
 * webhooks that are being sent, which take 10 s at most and would be sent again.
 */
const STOP_MS = 12_000
/** A worker that is to run all the time begins again this long after it has ended. */
const AGAIN_MS = 1000
/** Such a one is stuck when it has not told for so long that it is alive. */
const SILENT_MS = 30_000

const cronOf = (period_seconds: number): string =>
  period_seconds < LOOK_SECONDS ? `*/${period_seconds} * * * * *` : `${SECOND_OF_RUN} * * * * *`

type Running = { slot: StuckRun['slot']; done: number; more: boolean; timer: NodeJS.Timeout }

/**
 * Runs workers now and at their times until `signal` aborts. A run that would overlap the one before is skipped. When
 * a worker says that more is due, it is run again at once, and so are those that wait for it.
 */
export async function runSchedule(options: Options): Promise<void> {
  const { jobs, workerData, stuckAfterMs, onStuck, log, signal } = options
  const running = new Map<string, Running>()
  const isLongLived = (name: string): boolean => jobs.find((job) => job.name === name)?.period_seconds === null

  const watch = (name: string): void => {
    const run = running.get(name)
    if (!run) return
    clearTimeout(run.timer)
    run.timer = setTimeout(() => void endStuck(name, run), isLongLived(name) ? SILENT_MS : stuckAfterMs)
  }
  const endStuck = async (name: string, { slot }: Running): Promise<void> => {
    const worker = bree.workers.get(name)
    const error = isLongLived(name)
      ? `nothing was heard within ${SILENT_MS / 1000} s`
      : `no slot was finished within ${stuckAfterMs / 1000} s`
    log.error({ job: name, slot: slot && new Date(slot.at * 1000) }, `${error}: ends the worker`)
    await worker?.terminate()
    await onStuck({ job: name, slot, error }).catch((reason) =>
      log.error({ job: name, reason: String(reason) }, 'a stuck run could not be recorded'),
    )
  }

  const bree = new Bree({
    root: false,
    timezone: 'UTC',
    hasSeconds: true,
    worker: { workerData },
    jobs: jobs.map(({ name, path, period_seconds }) => ({
      name,
      path,
      timeout: 0,
      ...(period_seconds !== null && { cron: cronOf(period_seconds) }),
    })),
    // Bree's own chatter is about workers coming and going; a run says itself what it found.
    logger: { info: () => {}, warn: (message: unknown) => log.debug(String(message)), error: log.error.bind(log) },
    errorHandler: (error, { name }) => {
      if (!signal.aborted) log.error({ job: name, reason: String(error) }, 'a job failed')
    },
    workerMessageHandler: (data) => {
      const { name } = data
      const message = data.message as WorkerMessage
      const run = running.get(name)
      if (!run || message === 'done') return
      if (message === 'alive') run.slot = null
      else if ('slot' in message) run.slot = message.slot && { ...message.slot, startedAt: Date.now() }
      else Object.assign(run, message)
      watch(name)
    },
  })
  bree.on('worker created', (name: string) => {
    running.set(name, { slot: null, done: 0, more: false, timer: setTimeout(() => {}, 0) })
    watch(name)
  })
  bree.on('worker deleted', (name: string) => {
    const run = running.get(name)
    clearTimeout(run?.timer)
    running.delete(name)
    if (signal.aborted) return
    if (isLongLived(name)) setTimeout(() => signal.aborted || void bree.run(name), AGAIN_MS)
    if (!run?.done) return
    for (const job of jobs) if ((job.name === name && run.more) || job.after?.includes(name)) void bree.run(job.name)
  })

  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  await bree.start()
  if (!signal.aborted) await stopped
  const giveUp = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref())
  await Promise.race([bree.stop(), giveUp])
  await Promise.all([...bree.workers.values()].map((worker) => worker.terminate()))
  for (const { timer } of running.values()) clearTimeout(timer)
}
