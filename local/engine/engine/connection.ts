import type { Addon, NativeConnection, NativeResult } from './addon.js'
import { EngineError } from './errors.js'

/** The setting that carries a connection's mark into system.processes, so that its query can be found and killed. */
export const markSetting = 'chdb_client_name'

/** The mark of connections that do the gateway's own work. */
export const internalMark = 'internal'

/** A session of the engine. Runs one statement at a time; close it only when that is done. */
export class Connection {
  readonly mark: string
  readonly #addon: Addon
  readonly #native: NativeConnection
  #running: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(addon: Addon, directory: string, mark: string, args: string[] = []) {
    this.#addon = addon
    this.#native = addon.CreateConnection(directory, [`--${markSetting}=${mark}`, ...args])
    this.mark = mark
  }

  /** The whole result in memory. Throws EngineError. */
  async run(sql: string, format = 'TabSeparated', params?: Record<string, string>): Promise<NativeResult> {
    const hasParams = params !== undefined && Object.keys(params).length > 0
    const call = hasParams
      ? this.#addon.QueryAsyncConnection(this.#native, sql, format, params)
      : this.#addon.QueryAsyncConnection(this.#native, sql, format)
    this.#running = call.catch(() => undefined)
    try {
      return await call
    } catch (error) {
      throw EngineError.from(error)
    }
  }

  /**
   * Runs statements that only touch the session (SET) on this thread, which takes 0.06 ms where a thread of the pool takes
   * 0.4. Throws EngineError. Nothing that could wait for another statement may go this way.
   */
  runNow(sql: string): void {
    try {
      this.#addon.QueryWithConnection(this.#native, sql, 'TabSeparated')
    } catch (error) {
      throw EngineError.from(error)
    }
  }

  /** The engine's own parser on the number and class of the statements in `sql`. */
  async classify(sql: string) {
    const call = this.#addon.DurableClassifyAsync(this.#native, sql, 'default')
    this.#running = call.catch(() => undefined)
    try {
      return await call
    } catch (error) {
      throw EngineError.from(error)
    }
  }

  /** Waits for a running statement: to close a connection under one ends the process. May be called twice. */
  async close(): Promise<void> {
    await this.#running
    if (this.#closed) return
    this.#closed = true
    this.#addon.CloseConnection(this.#native)
  }
}
