import { quoteString } from '../query/settings.js'
import { type Connection, markSetting } from './connection.js'

type Order = { mark: string; done: (isKnown: boolean) => void }

/** Tells queries to stop. A KILL takes 10 to 40 ms, so all that are asked for meanwhile share the next one. */
export class Killer {
  readonly #connection: Connection
  #orders: Order[] = []
  #isAtWork = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Resolves to true when the query on the connection with this mark knows, false when none runs there (yet). */
  kill(mark: string): Promise<boolean> {
    return new Promise((done) => {
      this.#orders.push({ mark, done })
      void this.#work()
    })
  }

  async #work(): Promise<void> {
    if (this.#isAtWork) return
    this.#isAtWork = true
    while (this.#orders.length > 0) {
      const orders = this.#orders
      this.#orders = []
      const known = await this.#killAll(orders.map(({ mark }) => mark)).catch(() => new Set<string>())
      for (const { mark, done } of orders) done(known.has(mark))
    }
    this.#isAtWork = false
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
