import { quoteName } from '../query/settings.js'
import type { Connection } from './connection.js'

/** A server checks as often. */
const checkMs = 5_000

/**
 * Loaded dictionaries whose LIFETIME has expired, except caches, whose entries expire one by one. A server picks a time
 * between the two bounds; this uses the upper one. It counts from the last attempt, so that a failing source is not read
 * continuously.
 */
const overdue = `
  SELECT database, name FROM system.dictionaries
  WHERE status = 'LOADED' AND type NOT LIKE '%Cache%' AND lifetime_max > 0 AND dateDiff('second', loading_start_time, now()) >= lifetime_max
  FORMAT JSONCompactEachRow`

/** Reloads expired dictionaries, which the engine does not do by itself when it is embedded. */
export class Dictionaries {
  readonly #connection: Connection
  readonly #timer: NodeJS.Timeout
  #isBusy = false

  constructor(connection: Connection) {
    this.#connection = connection
    this.#timer = setInterval(() => void this.#reload(), checkMs)
    this.#timer.unref()
  }

  /** If a source cannot be read, the dictionary keeps its data, and system.dictionaries shows the error. */
  async #reload(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      const { bytes } = await this.#connection.run(overdue)
      for (const line of bytes.toString().split('\n').filter(Boolean)) {
        const [database, name] = JSON.parse(line) as [string, string]
        const path = database === '' ? quoteName(name) : `${quoteName(database)}.${quoteName(name)}`
        await this.#connection.run(`SYSTEM RELOAD DICTIONARY ${path}`).catch(() => undefined)
      }
    } catch {
      // The next check tries again.
    } finally {
      this.#isBusy = false
    }
  }

  /** Waits for a running reload. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#connection.close()
  }
}
