import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlumblineError } from '../process/errors.js'
import { FINAL_EXIT_CODE } from '../process/run-process.js'
import { PartLog } from './part-log.js'

/** A part of the service that runs as a process of its own. */
export type PartOptions = {
  name: string
  /** Path of the compiled program, and its arguments. */
  program: string[]
  env: Record<string, string | undefined>
  /** Variables for every start after the first, derived from the part's ready line. */
  envWhenRestarted?: (announcement: string) => Record<string, string>
  /** Returns the announcement if a line on stdout says that the part is ready, otherwise null. */
  ready: (line: string) => string | null
  logDir: string
  /** The part writes its stderr to the terminal itself, so that it can draw a progress bar. */
  ownsTerminal?: boolean
  print: (line: string) => void
  /** Called once, when the part ends with an error that a restart cannot fix. */
  onLost: (error: Error) => void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** After a run of this length, the pause before a restart is back to its shortest. */
const STABLE_RUN_MS = 60_000
const STOP_MS = 15_000

/** A part ended. `retryable`: a restart may help. */
class PartError extends PlumblineError {
  constructor(message: string, retryable: boolean) {
    super(message, { retryable })
  }
}

/**
 * What the terminal shows of a line of a part's log: the message of a warning or error, and text that is not a log
 * record.
 */
export function headline(line: string): string | null {
  try {
    const { level, msg, reason } = JSON.parse(line) as { level?: number; msg?: string; reason?: string }
    if ((level ?? 0) < 40) return null
    return reason === undefined ? (msg ?? line) : `${msg}: ${reason}`
  } catch {
    return line.trim() === '' ? null : line
  }
}

/** How a run of a part ended. `final`: a restart cannot help. */
type RunEnd = { why: string; final: boolean }

/** Resolves when a process has ended and all of its output has been read, or if it could not be started. */
const endOf = (child: ChildProcess): Promise<RunEnd> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve({ why: error.message, final: true }))
    // `close` rather than `exit`: by then all of its output has been read.
    child.once('close', (code, signal) =>
      resolve({ why: signal ?? `exit code ${code}`, final: code === FINAL_EXIT_CODE }),
    )
  })

/** A supervised part. If it dies, that is printed and it is restarted after a pause that doubles up to 30 s. */
export class Part {
  readonly #options: PartOptions
  readonly #log: PartLog
  #child: ChildProcess | null = null
  #ended: Promise<unknown> = Promise.resolve()
  #isStopping = false
  #pauseMs = FIRST_PAUSE_MS
  #restartEnv: Record<string, string> = {}

  constructor(options: PartOptions) {
    this.#options = options
    this.#log = new PartLog(join(options.logDir, `${options.name}.log`))
  }

  /**
   * Starts the part. Resolves to its announcement when it is ready; rejects with its last error message if it ends
   * first.
   */
  async start(): Promise<string> {
    const { name, onLost } = this.#options
    const startedAt = Date.now()
    const run = { isReady: false, lastMessage: '' }
    const child = this.#spawn()
    const announced = this.#readOutput(child, run)
    this.#readErrors(child, run)
    const ended = endOf(child)
    this.#child = child
    this.#ended = ended
    void ended.then(({ why, final }) => {
      this.#child = null
      if (this.#isStopping || !run.isReady) return
      if (final) return onLost(new PartError(run.lastMessage || `${name} exited: ${why}`, false))
      if (Date.now() - startedAt > STABLE_RUN_MS) this.#pauseMs = FIRST_PAUSE_MS
      void this.#restart(why)
    })
    return Promise.race([
      announced,
      ended.then(({ why, final }) =>
        Promise.reject(new PartError(run.lastMessage || `${name} did not start: ${why}`, !final)),
      ),
    ])
  }

  /** Ends the part by SIGTERM, or by SIGKILL after 15 s, and does not restart it. */
  async stop(): Promise<void> {
    const { name, print } = this.#options
    this.#isStopping = true
    const child = this.#child
    if (child) {
      child.kill('SIGTERM')
      const timer = setTimeout(() => {
        print(`${name} did not stop within ${STOP_MS / 1000} s; killing it`)
        child.kill('SIGKILL')
      }, STOP_MS)
      await this.#ended
      clearTimeout(timer)
    }
    this.#log.end()
  }

  #spawn(): ChildProcess {
    const { program, env, ownsTerminal } = this.#options
    // In its own process group: the supervisor receives Ctrl-C alone and stops the parts in order.
    return spawn(process.execPath, program, {
      env: { ...process.env, ...env, ...this.#restartEnv },
      stdio: ['ignore', 'pipe', ownsTerminal ? 'inherit' : 'pipe', 'ipc'],
      detached: true,
    })
  }

  /** Logs and prints what a run writes to stdout; resolves to its announcement, which is not printed. */
  #readOutput(child: ChildProcess, run: { isReady: boolean }): Promise<string> {
    const { ready, envWhenRestarted, print } = this.#options
    return new Promise((resolve) => {
      createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
        this.#log.write(line)
        const announcement = run.isReady ? null : ready(line)
        if (announcement === null) return print(line)
        run.isReady = true
        this.#restartEnv = envWhenRestarted?.(announcement) ?? {}
        resolve(announcement)
      })
    })
  }

  /** Logs what a run writes to stderr, keeps its last message, and prints its messages once it is ready. */
  #readErrors(child: ChildProcess, run: { isReady: boolean; lastMessage: string }): void {
    const { name, print } = this.#options
    if (!child.stderr) return
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#log.write(line)
      const message = headline(line)
      if (message === null) return
      run.lastMessage = message
      if (run.isReady) print(`${name}: ${message}`)
    })
  }

  async #restart(why: string): Promise<void> {
    const { name, print, onLost } = this.#options
    for (let cause = why; !this.#isStopping; ) {
      print(`${name} DIED (${cause}); restarting it in ${this.#pauseMs / 1000} s`)
      await sleep(this.#pauseMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
      if (this.#isStopping) return
      try {
        await this.start()
        return print(`${name} is running again`)
      } catch (error) {
        if (error instanceof PartError && !error.retryable) return onLost(error)
        cause = error instanceof Error ? error.message : String(error)
      }
    }
  }
}
