import type { Pending } from './fair-queue.js'

const keysOf = ({ subscription_id, incidents }: Pending): string[] =>
  incidents.map((incident) => `${subscription_id} ${incident}`)

/**
 * The order of the deliveries to a subscription that are about the same incident: one is sent when those before it are over, so that
 * no end overtakes its start. Those about other incidents do not wait for them.
 */
export class Turns {
  /** Those that are not over, by subscription and incident, in the order of their numbers. The first has its turn. */
  readonly #lines = new Map<string, Pending[]>()
  #waiting = 0

  /** How many deliveries wait for an earlier one. */
  get waiting(): number {
    return this.#waiting
  }

  /** Adds a delivery, in the order of their numbers; returns whether it can be sent. If not, `end` returns it when it can. */
  begin(pending: Pending): boolean {
    let isFirst = true
    for (const key of keysOf(pending)) {
      const line = this.#lines.get(key)
      if (line === undefined) this.#lines.set(key, [pending])
      else {
        line.push(pending)
        isFirst = false
      }
    }
    if (!isFirst) {
      // It may have to wait for long, and is read again before it is sent.
      pending.content = null
      this.#waiting++
    }
    return isFirst
  }

  /** Call when a delivery is over, in whatever way; returns those that can be sent now. */
  end(pending: Pending): Pending[] {
    const next = new Set<Pending>()
    for (const key of keysOf(pending)) {
      const line = this.#lines.get(key)
      line?.shift()
      const [first] = line ?? []
      if (first === undefined) this.#lines.delete(key)
      else next.add(first)
    }
    const ready = [...next].filter((one) => this.#hasTurn(one))
    this.#waiting -= ready.length
    return ready
  }

  #hasTurn(pending: Pending): boolean {
    return keysOf(pending).every((key) => this.#lines.get(key)?.[0] === pending)
  }
}
