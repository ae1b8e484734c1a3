import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Config } from './config.js'
import { launchServer } from './launch.js'

const firstPauseMs = 500
const longestPauseMs = 30_000
/** After a run of this length, the pause before a restart is back to its shortest. */
const stableRunMs = 60_000

/**
 * Runs the server as a child process and exits with its exit code. A server that crashes after it was ready is restarted
 * at the same port, after a pause that doubles up to 30 s. Only the first ready line goes to stdout.
 */
export class Supervisor {
  readonly #config: Config
  readonly #log: (line: string) => void
  #child: ChildProcess | undefined
  #port: number | undefined
  #isEnding = false
  #pauseMs = firstPauseMs

  constructor(config: Config, log: (line: string) => void) {
    this.#config = config
    this.#log = log
  }

  /** Starts the server. This process exits when the server does. Throws if a directory cannot be used. */
  run(): void {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#end())
    // This process ends when its parent does, just as the server ends when this process does.
    process.on('disconnect', () => this.#end())
    this.#launch()
  }

  #launch(): void {
    const startedAt = Date.now()
    const config = { ...this.#config, port: this.#port ?? this.#config.port }
    const child = launchServer(config, { stderr: 'inherit' })
    this.#child = child
    let isReady = false
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as { ready?: boolean; url: string }
      if (!message.ready) return
      isReady = true
      if (this.#port === undefined) process.stdout.write(`${line}\n`)
      else this.#log(`the server is running again (process ${child.pid})`)
      this.#port = Number(new URL(message.url).port)
    })
    child.once('exit', (code, signal) => {
      this.#child = undefined
      const isCrash = signal !== null || code !== 0
      if (this.#isEnding || !isCrash || this.#port === undefined) process.exit(code ?? 1)
      if (isReady && Date.now() - startedAt > stableRunMs) this.#pauseMs = firstPauseMs
      this.#log(`the server ended by ${signal ?? `exit code ${code}`}; restarting it in ${this.#pauseMs / 1000} s`)
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
