import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlumblineError } from '../process/errors.js'
import { FINAL_EXIT_CODE } from '../process/run-process.js'

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

export type Part = {
  /**
   * Starts the part. Resolves to its announcement when it is ready; rejects with its last error message if it ends
   * first.
   */
  start: () => Promise<string>
  /** Ends the part by SIGTERM, or by SIGKILL after 15 s, and does not restart it. */
  stop: () => Promise<void>
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

/** A supervised part. If it dies, that is printed and it is restarted after a pause that doubles up to 30 s. */
export function createPart(options: PartOptions): Part {
  const { name, program, env, ready, logDir, print, onLost } = options
  let child: ChildProcess | null = null
  let exited: Promise<string> = Promise.resolve('')
  let stopping = false
  let pauseMs = FIRST_PAUSE_MS
  let restartEnv: Record<string, string> = {}

  const logFile = join(logDir, `${name}.log`)
  // The log of the previous run is kept as well.
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`)
  const log = createWriteStream(logFile, { flags: 'a' })

  const launch = (): Promise<string> => {
    const startedAt = Date.now()
    let lastMessage = ''
    let isReady = false
    // In its own process group: the supervisor receives Ctrl-C alone and stops the parts in order.
    const started = spawn(process.execPath, program, {
      env: { ...process.env, ...env, ...restartEnv },
      stdio: ['ignore', 'pipe', options.ownsTerminal ? 'inherit' : 'pipe', 'ipc'],
      detached: true,
    })
    child = started
    const announced = new Promise<string>((resolve) => {
      createInterface({ input: started.stdout as NodeJS.ReadableStream }).on('line', (line) => {
        log.write(`${line}\n`)
        const announcement = isReady ? null : ready(line)
        if (announcement === null) return print(line)
        isReady = true
        restartEnv = options.envWhenRestarted?.(announcement) ?? {}
        resolve(announcement)
      })
    })
    if (started.stderr) {
      createInterface({ input: started.stderr }).on('line', (line) => {
        log.write(`${line}\n`)
        const words = headline(line)
        if (words === null) return
        lastMessage = words
        if (isReady) print(`${name}: ${words}`)
      })
    }
    const ended = new Promise<{ why: string; final: boolean }>((resolve) => {
      started.once('error', (error) => resolve({ why: error.message, final: true }))
      // `close` rather than `exit`: by then all of its output has been read.
      started.once('close', (code, signal) =>
        resolve({ why: signal ?? `exit code ${code}`, final: code === FINAL_EXIT_CODE }),
      )
    })
    exited = ended.then(({ why }) => why)
    void ended.then(({ why, final }) => {
      child = null
      if (stopping || !isReady) return
      if (final) return onLost(new PartError(lastMessage || `${name} exited: ${why}`, false))
      if (Date.now() - startedAt > STABLE_RUN_MS) pauseMs = FIRST_PAUSE_MS
      void relaunch(why)
    })
    return Promise.race([
      announced,
      ended.then(({ why, final }) =>
        Promise.reject(new PartError(lastMessage || `${name} did not start: ${why}`, !final)),
      ),
    ])
  }

  const relaunch = async (why: string): Promise<void> => {
    for (let cause = why; !stopping; ) {
      print(`${name} DIED (${cause}); restarting it in ${pauseMs / 1000} s`)
      await sleep(pauseMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      if (stopping) return
      try {
        await launch()
        return print(`${name} is running again`)
      } catch (error) {
        if (error instanceof PartError && !error.retryable) return onLost(error)
        cause = error instanceof Error ? error.message : String(error)
      }
    }
  }

  return {
    start: launch,
    stop: async () => {
      stopping = true
      const running = child
      if (running) {
        running.kill('SIGTERM')
        const timer = setTimeout(() => {
          print(`${name} did not stop within ${STOP_MS / 1000} s; killing it`)
          running.kill('SIGKILL')
        }, STOP_MS)
        await exited
        clearTimeout(timer)
      }
      log.end()
    },
  }
}
