import { setTimeout as sleep } from 'node:timers/promises'
import Bree from 'bree'
import type { Logger } from 'pino'
import type { WorkerData, WorkerMessage } from './run-worker.js'

/** A worker and when it is run. */
export type ScheduledJob = {
  name: string
  path: string
  /** Seconds between two slots, which divide an hour; null if the worker runs continuously and sends heartbeats. */
  period_seconds: number | null
  /** Jobs after which this one is also run, if they have done a slot. */
  after?: readonly string[]
}

/** What a worker was doing when it was found stuck. */
export type StuckRun = { job: string; slot: { at: number; revision: number; startedAt: number } | null; error: string }

type Options = {
  jobs: readonly ScheduledJob[]
  workerData: WorkerData
  /** Those of the jobs with these names that have something to do now. The others are not run: to start a worker is work. */
  due: (names: readonly string[]) => Promise<readonly string[]>
  /** A slot worker that sends no message for this long is terminated, and run again at its next time. */
  stuckAfterMs: number
  onStuck: (run: StuckRun) => Promise<void>
  /** Called with the name of a worker that ended with an error. */
  onFailed: (job: string) => void
  log: Logger
  signal: AbortSignal
}

/** By this second, the block after a slot that ends with the minute has usually been read. */
const SECOND_OF_RUN = 5
/**
 * Every job looks for due slots at least once a minute, whatever its period: a slot may become due late if ingest is
 * behind, and the next one may be an hour away.
 */
const CHECK_SECONDS = 60
/**
 * How long workers may take to stop: to finish a slot, which would have to be repeated, or webhooks in flight, which
 * take at most 10 s and would be sent again.
 */
const STOP_MS = 12_000
/** A worker that runs continuously is restarted this long after it has ended. */
const RESTART_MS = 1000
/** Such a worker is stuck if it has not sent a heartbeat for this long. */
const HEARTBEAT_TIMEOUT_MS = 30_000

/** How often it is looked whether a job has something to do, in seconds; null for one that runs continuously. */
const lookSeconds = ({ period_seconds }: ScheduledJob): number | null =>
  period_seconds === null ? null : Math.min(period_seconds, CHECK_SECONDS)

/** How long from `nowMs` until the next look, in milliseconds. */
function untilNextLook(everySeconds: number, nowMs: number): number {
  const second = everySeconds === CHECK_SECONDS ? SECOND_OF_RUN : 0
  return (everySeconds - ((nowMs / 1000 - second) % everySeconds)) * 1000
}

/** A worker that is running: what it has reported so far, and the timer after which it counts as stuck. */
type WorkerRun = { slot: StuckRun['slot']; done: number; more: boolean; timer: NodeJS.Timeout }

/**
 * Runs workers that have something to do now and at their times until `signal` aborts. A run that would overlap the previous
 * one is skipped. A worker that reports more due slots is run again at once, and so are the workers that depend on it.
 */
export const runSchedule = (options: Options): Promise<void> => new Schedule(options).run()

class Schedule {
  readonly #options: Options
  readonly #bree: Bree
  readonly #runs = new Map<string, WorkerRun>()

  constructor(options: Options) {
    this.#options = options
    this.#bree = this.#createBree()
    this.#bree.on('worker created', (name: string) => {
      this.#runs.set(name, { slot: null, done: 0, more: false, timer: setTimeout(() => {}, 0) })
      this.#watch(name)
    })
    this.#bree.on('worker deleted', (name: string) => this.#onEnd(name))
  }

  async run(): Promise<void> {
    const { jobs, signal } = this.#options
    const cadences = new Set(jobs.map(lookSeconds).filter((seconds) => seconds !== null))
    await this.#bree.start()
    // To stop does not wait for a look at the database.
    for (const seconds of cadences) void this.#lookEvery(seconds)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    const giveUp = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref())
    await Promise.race([this.#bree.stop(), giveUp])
    await Promise.all([...this.#bree.workers.values()].map((worker) => worker.terminate()))
    for (const { timer } of this.#runs.values()) clearTimeout(timer)
  }

  #createBree(): Bree {
    const { jobs, workerData, onFailed, log, signal } = this.#options
    return new Bree({
      root: false,
      timezone: 'UTC',
      hasSeconds: true,
      worker: { workerData },
      jobs: jobs.map(({ name, path, period_seconds }) => ({
        name,
        path,
        // The others are run by `#look`.
        timeout: period_seconds === null ? 0 : false,
      })),
      // Bree only logs that workers start and end; a run logs its own results.
      logger: { info: () => {}, warn: (message: unknown) => log.debug(String(message)), error: log.error.bind(log) },
      errorHandler: (error, { name }) => {
        if (signal.aborted) return
        onFailed(name)
        log.error({ job: name, reason: String(error) }, 'a job failed')
      },
      workerMessageHandler: ({ name, message }) => this.#onMessage(name, message as WorkerMessage),
    })
  }

  #onMessage(name: string, message: WorkerMessage): void {
    const run = this.#runs.get(name)
    if (!run || message === 'done') return
    if (message === 'alive') run.slot = null
    else if ('slot' in message) run.slot = message.slot && { ...message.slot, startedAt: Date.now() }
    else Object.assign(run, message)
    this.#watch(name)
  }

  /** A worker has ended: runs it again if it runs continuously or has more to do, and the workers that depend on it. */
  #onEnd(name: string): void {
    const { jobs, signal } = this.#options
    const run = this.#runs.get(name)
    clearTimeout(run?.timer)
    this.#runs.delete(name)
    if (signal.aborted) return
    if (this.#isContinuous(name)) setTimeout(() => signal.aborted || void this.#bree.run(name), RESTART_MS)
    if (!run?.done) return
    if (run.more) void this.#bree.run(name)
    void this.#look(jobs.filter(({ after }) => after?.includes(name)).map((job) => job.name))
  }

  #isContinuous(name: string): boolean {
    return this.#options.jobs.find((job) => job.name === name)?.period_seconds === null
  }

  /** Restarts the timer after which a worker that sends no message is stuck. */
  #watch(name: string): void {
    const run = this.#runs.get(name)
    if (!run) return
    clearTimeout(run.timer)
    const timeoutMs = this.#isContinuous(name) ? HEARTBEAT_TIMEOUT_MS : this.#options.stuckAfterMs
    run.timer = setTimeout(() => void this.#terminateStuck(name, run), timeoutMs)
  }

  async #terminateStuck(name: string, { slot }: WorkerRun): Promise<void> {
    const { stuckAfterMs, onStuck, log } = this.#options
    const worker = this.#bree.workers.get(name)
    const error = this.#isContinuous(name)
      ? `missed its heartbeat for ${HEARTBEAT_TIMEOUT_MS / 1000} s`
      : `no slot was finished within ${stuckAfterMs / 1000} s`
    log.error({ job: name, slot: slot && new Date(slot.at * 1000) }, `${error}: terminating the worker`)
    await worker?.terminate()
    await onStuck({ job: name, slot, error }).catch((reason) =>
      log.error({ job: name, reason: String(reason) }, 'a stuck run could not be recorded'),
    )
  }

  /** Runs those of these workers that are not running and have something to do. */
  async #look(names: readonly string[]): Promise<void> {
    const { due, signal } = this.#options
    const idle = names.filter((name) => !this.#bree.workers.has(name))
    if (idle.length === 0) return
    // If this cannot be found out, the workers report why.
    const wanted = await due(idle).catch(() => idle)
    for (const name of wanted) if (!signal.aborted && !this.#bree.workers.has(name)) void this.#bree.run(name)
  }

  async #lookEvery(seconds: number): Promise<void> {
    const { jobs, signal } = this.#options
    const names = jobs.filter((job) => lookSeconds(job) === seconds).map(({ name }) => name)
    while (!signal.aborted) {
      await this.#look(names)
      await sleep(untilNextLook(seconds, Date.now()), undefined, { signal }).catch(() => {})
    }
  }
}
