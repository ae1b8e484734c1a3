import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOwner, type User } from '../access/users.js'
import { cancelled, EngineError } from '../engine/errors.js'

/** An admitted request, until the end of its response. */
export type Running = {
  readonly queryId: string
  readonly user: User
  /** The mark of its connection in the engine; undefined until it has one. */
  readonly mark: string | undefined
  /** The statement as it was sent, without rows; undefined unless it is known to contain no secrets. */
  readonly text: string | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Makes the request end soon, with this error if it can still be sent. */
  stop(reason: EngineError): void
  done: Promise<void>
}

/** The running requests, by query id. */
export class Registry {
  readonly #max: number
  readonly #running = new Map<string, Running>()

  constructor(maxConcurrentQueries: number) {
    this.#max = maxConcurrentQueries
  }

  /** Throws ClickHouse's error if too many queries are running, or one with this id. */
  assertRoom(queryId: string): void {
    if (this.#running.size >= this.#max) {
      throw EngineError.of(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', `Too many simultaneous queries. Maximum: ${this.#max}`)
    }
    if (this.#running.has(queryId)) {
      const text = `Query with id = ${queryId} is already running`
      throw EngineError.of(216, 'QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING', text)
    }
  }

  /** Stops this user's query with this id. Resolves when it has ended, or after `maxWaitMs`. */
  async replace(queryId: string, user: User, maxWaitMs: number): Promise<void> {
    const running = this.#running.get(queryId)
    if (running?.user.name !== user.name) return
    running.stop(cancelled())
    const ended = running.done.catch(() => undefined)
    await Promise.race([ended, sleep(maxWaitMs, undefined, { ref: false })])
  }

  add(running: Running): void {
    this.#running.set(running.queryId, running)
  }

  delete(queryId: string): void {
    this.#running.delete(queryId)
  }

  get(queryId: string): Running | undefined {
    return this.#running.get(queryId)
  }

  all(): Running[] {
    return [...this.#running.values()]
  }

  /** The requests that `user` may see and stop: all for an owner, their own for any other user. */
  visibleTo(user: User): Running[] {
    return this.all().filter((running) => isOwner(user) || running.user.name === user.name)
  }
}
