import { setTimeout as sleep } from 'node:timers/promises'
import type { NativeResult } from '../engine/addon.js'
import type { Connection } from '../engine/connection.js'
import type { Engine } from '../engine/engine.js'
import { cancelled } from '../engine/errors.js'

/** Runs the statements of a query so that they can be cancelled. */
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
   * Stops the running statement and refuses later ones. The engine may not know the statement yet, so this repeats KILL
   * until it does. From then on it calls the function given to `onStop` until the statement has ended, because one of the
   * engine's threads may be waiting at a pipe.
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

  /** Sets the function that releases threads of the engine which wait at a pipe. It may be called many times. */
  onStop(stop: () => void): void {
    this.#stop = stop
  }
}

/** About four seconds. A statement that is unknown even then is waiting at a pipe, where the engine does not list it. */
const attemptsToBeKnown = 20
