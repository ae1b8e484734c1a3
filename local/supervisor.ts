import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { FINAL_EXIT_CODE, PlumblineError } from '../process/errors.js'

/** A part of the service that runs as a process of its own. */
export type PartOptions = {
  name: string
  /** Path of the compiled program, and its arguments. */
  program: string[]
  env: Record<string, string | undefined>
  /** Changes to `env` for every start after the first, made of what the part said when it was ready. */
  envWhenRestarted?: (announcement: string) => Record<string, string>
  /** Recognizes the line on stdout that says the part can be used, and returns what it says. */
  ready: (line: string) => string | null
  logDir: string
  /** Show the part's stderr as it is, for a progress bar. */
  ownsTerminal?: boolean
  say: (line: string) => void
  /** Called once, when starting the part again is of no use. */
  onLost: (error: Error) => void
}

export type Part = {
  /** Starts the part; resolves with what it says when ready, rejects with its last words. Restarts are not waited for. */
  start: () => Promise<string>
  /** Ends it for good, by SIGTERM and, when that takes too long, by SIGKILL. */
  stop: () => Promise<void>
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A part that lived this long has proven that it can; the next pause is short again. */
const PROVEN_MS = 60_000
const STOP_MS = 15_000

/** `retryable`: starting the part again may help. */
class PartError extends PlumblineError {
  constructor(message: string, retryable: boolean) {
    super(message, { retryable })
  }
}

/** What a line of a part's log has to say to the person at the terminal: warnings, and words that are no log record. */
export function headline(line: string): string | null {
  try {
    const { level, msg, reason } = JSON.parse(line) as { level?: number; msg?: string; reason?: string }
    if ((level ?? 0) < 40) return null
    return reason === undefined ? (msg ?? line) : `${msg}: ${reason}`
  } catch {
    return line.trim() === '' ? null : line
  }
}

/** A part under supervision: when it dies it is started again, loudly, after a pause that doubles up to 30 s. */
export function createPart(options: PartOptions): Part {
  const { name, program, env, ready, logDir, say, onLost } = options
  let child: ChildProcess | null = null
  let exited: Promise<string> = Promise.resolve('')
  let stopping = false
  let pauseMs = FIRST_PAUSE_MS
  let restartEnv: Record<string, string> = {}

  const logFile = join(logDir, `${name}.log`)
  // One run's log and the one before are kept.
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`)
  const log = createWriteStream(logFile, { flags: 'a' })

  const launch = (): Promise<string> => {
    const startedAt = Date.now()
    let lastWords = ''
    let isReady = false
    // In a process group of its own, so that Ctrl-C reaches the parts in order, through the supervisor.
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
        if (announcement === null) return say(line)
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
        lastWords = words
        if (isReady) say(`${name}: ${words}`)
      })
    }
    const ended = new Promise<{ why: string; final: boolean }>((resolve) => {
      started.once('error', (error) => resolve({ why: error.message, final: true }))
      // `close` rather than `exit`: by then its last words have been read.
      started.once('close', (code, signal) =>
        resolve({ why: signal ?? `exit code ${code}`, final: code === FINAL_EXIT_CODE }),
      )
    })
    exited = ended.then(({ why }) => why)
    void ended.then(({ why, final }) => {
      child = null
      if (stopping || !isReady) return
      if (final) return onLost(new PartError(lastWords || `${name} ended: ${why}`, false))
      if (Date.now() - startedAt > PROVEN_MS) pauseMs = FIRST_PAUSE_MS
      void relaunch(why)
    })
    return Promise.race([
      announced,
      ended.then(({ why, final }) =>
        Promise.reject(new PartError(lastWords || `${name} did not start: ${why}`, !final)),
      ),
    ])
  }

  const relaunch = async (why: string): Promise<void> => {
    for (let cause = why; !stopping; ) {
      say(`${name} DIED (${cause}); starting it again in ${pauseMs / 1000} s`)
      await sleep(pauseMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      if (stopping) return
      try {
        await launch()
        return say(`${name} is back`)
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
          say(`${name} does not end; killing it`)
          running.kill('SIGKILL')
        }, STOP_MS)
        await exited
        clearTimeout(timer)
      }
      log.end()
    },
  }
}
