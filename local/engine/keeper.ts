import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const firstPauseMs = 500
const longestPauseMs = 30_000
/** A process that lived this long has proven that it can; the next pause is short again. */
const provenMs = 60_000

type Kept = {
  program: string
  args: string[]
  env: NodeJS.ProcessEnv
  log: (line: string) => void
}

/**
 * Runs the server as a child process and ends as it does; but one that was up and crashed is started again, at the same
 * port, after a pause that doubles up to 30 s. Only the first one's ready line goes to stdout.
 */
export class Keeper {
  readonly #kept: Kept
  #child: ChildProcess | undefined
  #port: string | undefined
  #isEnding = false
  #pauseMs = firstPauseMs

  constructor(kept: Kept) {
    this.#kept = kept
  }

  /** Does not return an outcome: this process ends with its child. */
  run(): void {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#end())
    // The server ends by itself when it loses this process, and so does this one when it loses the one above it.
    process.on('disconnect', () => this.#end())
    this.#launch()
  }

  #launch(): void {
    const { program, args, env, log } = this.#kept
    const startedAt = Date.now()
    const port = this.#port === undefined ? [] : ['--port', this.#port]
    const child = spawn(process.execPath, [program, ...args, ...port], {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      // Ctrl-C goes to a whole process group, and the server is told by this process.
      detached: true,
    })
    this.#child = child
    let isReady = false
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as { ready?: boolean; url: string }
      if (!message.ready) return
      isReady = true
      if (this.#port === undefined) process.stdout.write(`${line}\n`)
      else log(`it is back (process ${child.pid})`)
      this.#port = new URL(message.url).port
    })
    child.once('exit', (code, signal) => {
      this.#child = undefined
      const isCrash = signal !== null || code !== 0
      if (this.#isEnding || !isCrash || this.#port === undefined) process.exit(code ?? 1)
      if (isReady && Date.now() - startedAt > provenMs) this.#pauseMs = firstPauseMs
      log(`it ended by ${signal ?? `exit code ${code}`}; starting it again in ${this.#pauseMs / 1000} s`)
      setTimeout(() => this.#launch(), this.#pauseMs)
      this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
    })
  }

  #end(): void {
    this.#isEnding = true
    if (this.#child) this.#child.kill('SIGTERM')
    else process.exit(0)
  }
}
