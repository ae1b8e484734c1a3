import { quoteString } from '../query/settings.js'
import { type Connection, markSetting } from './connection.js'

type KillRequest = { mark: string; done: (isKnown: boolean) => void }

/** Stops queries. A KILL takes 10 to 40 ms, so all requests during one share the next. */
export class Killer {
  readonly #connection: Connection
  #requests: KillRequest[] = []
  #isBusy = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Resolves to true when the query on this connection was cancelled, to false if none is running there (yet). */
  kill(mark: string): Promise<boolean> {
    return new Promise((done) => {
      this.#requests.push({ mark, done })
      void this.#killRequested()
    })
  }

  async #killRequested(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    while (this.#requests.length > 0) {
      const requests = this.#requests
      this.#requests = []
      const killed = await this.#killAll(requests.map(({ mark }) => mark)).catch(() => new Set<string>())
      for (const { mark, done } of requests) done(killed.has(mark))
    }
    this.#isBusy = false
  }

  async #killAll(marks: string[]): Promise<Set<string>> {
    const mark = `Settings['${markSetting}']`
    await this.#connection.run(`KILL QUERY WHERE ${mark} IN (${marks.map(quoteString).join(', ')}) ASYNC`)
    const { bytes } = await this.#connection.run(`SELECT ${mark} FROM system.processes WHERE is_cancelled`)
    return new Set(bytes.toString().split('\n'))
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }
}
