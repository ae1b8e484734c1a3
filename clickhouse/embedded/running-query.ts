import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeResult } from './addon.js'
import type { Connection } from './connection.js'
import type { Engine } from './engine.js'
import { EngineError } from './errors.js'

/** A statement that can be stopped. */
export class RunningQuery {
  readonly connection: Connection
  readonly #engine: Engine
  #running = 0
  #isCancelled = false
  #onFound: (() => void)[] = []

  constructor(engine: Engine, connection: Connection) {
    this.#engine = engine
    this.connection = connection
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  async run(sql: string, format?: string, params?: Record<string, string>): Promise<NativeResult> {
    if (this.#isCancelled) throw cancelled()
    this.#running++
    try {
      return await this.connection.run(sql, format, params)
    } finally {
      this.#running--
    }
  }

  /**
   * Stops what runs and refuses what would run next. The engine may not know the statement yet, and a thread of it may be
   * waiting in a pipe, so this repeats until the statement is over; `onStop` is called each time the engine knows.
   */
  async cancel(): Promise<void> {
    if (this.#isCancelled) return
    this.#isCancelled = true
    for (let attempt = 0; this.#running > 0; attempt++) {
      const isKnown = await this.#engine.kill(this.connection.mark).catch(() => false)
      if (isKnown || attempt > 20) for (const free of this.#onFound) free()
      await sleep(Math.min(5 * 2 ** attempt, 250))
    }
  }

  /** Calls `free` repeatedly once a cancelled statement has been told to stop. It has to let go of the engine's threads. */
  onStop(free: () => void): void {
    this.#onFound.push(free)
  }
}

const cancelled = () => EngineError.of(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled')
