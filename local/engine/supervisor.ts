import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const firstPauseMs = 500
const longestPauseMs = 30_000
/** After a run of this length, the pause before a restart is back to its shortest. */
const stableRunMs = 60_000

type SupervisorOptions = {
  program: string
  args: string[]
  env: NodeJS.ProcessEnv
  log: (line: string) => void
}

/**
 * Runs the server as a child process and exits with its exit code. A server that crashes after it was ready is restarted
 * at the same port, after a pause that doubles up to 30 s. Only the first ready line goes to stdout.
 */
export class Supervisor {
  readonly #options: SupervisorOptions
  #child: ChildProcess | undefined
  #port: string | undefined
  #isEnding = false
  #pauseMs = firstPauseMs

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Starts the server. This process exits when the server does. */
  run(): void {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#end())
    // This process ends when its parent does, just as the server ends when this process does.
    process.on('disconnect', () => this.#end())
    this.#launch()
  }

  #launch(): void {
    const { program, args, env, log } = this.#options
    const startedAt = Date.now()
    const port = this.#port === undefined ? [] : ['--port', this.#port]
    const child = spawn(process.execPath, [program, ...args, ...port], {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      // Ctrl-C signals a whole process group; the server gets its signal from this process instead.
      detached: true,
    })
    this.#child = child
    let isReady = false
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as { ready?: boolean; url: string }
      if (!message.ready) return
      isReady = true
      if (this.#port === undefined) process.stdout.write(`${line}\n`)
      else log(`the server is running again (process ${child.pid})`)
      this.#port = new URL(message.url).port
    })
    child.once('exit', (code, signal) => {
      this.#child = undefined
      const isCrash = signal !== null || code !== 0
      if (this.#isEnding || !isCrash || this.#port === undefined) process.exit(code ?? 1)
      if (isReady && Date.now() - startedAt > stableRunMs) this.#pauseMs = firstPauseMs
      log(`the server ended by ${signal ?? `exit code ${code}`}; restarting it in ${this.#pauseMs / 1000} s`)
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
