import { quoteName } from '../query/settings.js'
import type { Connection } from './connection.js'

/** As often as a server looks. */
const lookMs = 5_000

/**
 * Loaded dictionaries whose LIFETIME is over, but not caches, whose entries have one each. A server picks a moment between its two bounds; this is the upper one, and
 * counts from the last attempt, so that a source which fails is not asked all the time.
 */
const overdue = `
  SELECT database, name FROM system.dictionaries
  WHERE status = 'LOADED' AND type NOT LIKE '%Cache%' AND lifetime_max > 0 AND dateDiff('second', loading_start_time, now()) >= lifetime_max
  FORMAT JSONCompactEachRow`

/** Reloads dictionaries in time, which the engine leaves to whoever has it in its process. */
export class Dictionaries {
  readonly #connection: Connection
  readonly #timer: NodeJS.Timeout
  #isAtWork = false

  constructor(connection: Connection) {
    this.#connection = connection
    this.#timer = setInterval(() => void this.#work(), lookMs)
    this.#timer.unref()
  }

  /** A dictionary that cannot be read keeps what it has, and its error is in system.dictionaries. */
  async #work(): Promise<void> {
    if (this.#isAtWork) return
    this.#isAtWork = true
    try {
      const { bytes } = await this.#connection.run(overdue)
      for (const line of bytes.toString().split('\n').filter(Boolean)) {
        const [database, name] = JSON.parse(line) as [string, string]
        const path = database === '' ? quoteName(name) : `${quoteName(database)}.${quoteName(name)}`
        await this.#connection.run(`SYSTEM RELOAD DICTIONARY ${path}`).catch(() => undefined)
      }
    } catch {
      // The next look will tell.
    } finally {
      this.#isAtWork = false
    }
  }

  /** Waits for a reload that runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#connection.close()
  }
}
