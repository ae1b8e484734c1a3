import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { WebhookAttempt } from '../../../clickhouse/webhooks/attempts.js'

type Options = {
  /** Repeated with the same token if it failed; it must not add the same attempts twice. */
  insert: (attempts: readonly WebhookAttempt[], token: string) => Promise<void>
  log: Logger
}

/**
 * The minimum time between the starts of two inserts, so that attempts that arrive meanwhile are recorded together. The
 * first insert does not wait.
 */
const GATHER_MS = 50
const MAX_BATCH = 2000
const RETRY_MS = 500

/**
 * Records attempts in batches, one batch at a time and in the order given. A batch is retried until it is inserted: an
 * attempt that was made must not be lost.
 */
export class Recorder {
  readonly #options: Options
  #waiting: { attempt: WebhookAttempt; recorded: () => void }[] = []
  #unrecorded = 0
  #running: Promise<void> | null = null

  constructor(options: Options) {
    this.#options = options
  }

  /** Attempts that are not recorded yet. */
  get unrecorded(): number {
    return this.#unrecorded
  }

  /** Adds an attempt; calls `recorded` once it is in the database. */
  add(attempt: WebhookAttempt, recorded: () => void): void {
    this.#waiting.push({ attempt, recorded })
    this.#unrecorded++
    this.#running ??= this.#run()
  }

  /** Resolves when all added attempts are recorded. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const startedAt = performance.now()
      const batch = this.#waiting.splice(0, MAX_BATCH)
      await this.#insert(batch.map(({ attempt }) => attempt))
      this.#unrecorded -= batch.length
      for (const { recorded } of batch) recorded()
      if (this.#waiting.length < MAX_BATCH) await sleep(startedAt + GATHER_MS - performance.now())
    }
    this.#running = null
  }

  async #insert(attempts: readonly WebhookAttempt[]): Promise<void> {
    const { insert, log } = this.#options
    const token = randomUUID()
    for (let isLogged = false; ; await sleep(RETRY_MS)) {
      try {
        return await insert(attempts, token)
      } catch (error) {
        if (!isLogged)
          log.warn({ attempts: attempts.length, reason: String(error) }, 'attempts could not be recorded; retrying')
        isLogged = true
      }
    }
  }
}
