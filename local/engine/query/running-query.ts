import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import type { Engine } from '../engine/engine.js'
import { cancelled } from '../engine/errors.js'

/** A statement that can be stopped. */
export class RunningQuery {
  readonly connection: Connection
  readonly #engine: Engine
  #running = 0
  #isCancelled = false
  #stop: (() => void) | undefined

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
   * Stops what runs and refuses what would run next. The engine may not know the statement yet, so this asks until it
   * does; from then on it calls what `onStop` was given until the statement is over, as a thread may wait in a pipe.
   */
  async cancel(): Promise<void> {
    if (this.#isCancelled) return
    this.#isCancelled = true
    let isKnown = false
    for (let attempt = 0; this.#running > 0; attempt++) {
      isKnown ||= await this.#engine.kill(this.connection.mark)
      if (isKnown || attempt > attemptsToBeKnown) this.#stop?.()
      await sleep(Math.min(5 * 2 ** attempt, 250))
    }
  }

  /** `stop` has to let go of the engine's threads. It may be called many times. */
  onStop(stop: () => void): void {
    this.#stop = stop
  }
}

/** About four seconds. A statement that is not known by then waits where it cannot be found. */
const attemptsToBeKnown = 20
