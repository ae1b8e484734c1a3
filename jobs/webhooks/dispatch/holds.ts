import type { ClickHouseClient } from '@clickhouse/client'
import { addDigest, type Held, heldAndDigests, MOST_DIGESTED } from '../../../clickhouse/webhooks/digests.js'
import { isQuiet, releaseAt } from '../../../clickhouse/webhooks/holding.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'

/** The number of rows per read, to limit memory. */
const PAGE = 10_000

type SubscriptionOf = (id: string) => Subscription | undefined

/** A row of the deliveries that concerns held events: one of them, or a digest, which covers all up to its own number. */
type Row = Held & { kind: string }

/**
 * The held events that are in no digest yet, by subscription and in order. All follows from the stored rows, seen in
 * the order of their numbers: another process that has seen as many rows begins its next digest with the same event.
 */
export class Holds {
  readonly #held = new Map<string, Held[]>()
  /** When the first event of a subscription is released, by a version of it, so that clocks need not be asked each time. */
  readonly #heads = new Map<string, { key: string; releasedAt: number }>()

  /** Reads those with a number from `from` to `until`; all before are in digests. */
  async resume(clickhouse: ClickHouseClient, from: number, until: number): Promise<void> {
    this.#held.clear()
    for (let next = from; next <= until; ) {
      const page = await heldAndDigests(clickhouse, { from: next, until, limit: PAGE })
      for (const row of page) this.see(row)
      if (page.length < PAGE) break
      next = (page.at(-1)?.delivery_id ?? until) + 1
    }
  }

  /** Takes note of a row, in the order of their numbers. */
  see({ kind, delivery_id, subscription_id, event_sequence, event_at }: Row): void {
    const held = this.#held.get(subscription_id) ?? []
    if (kind === 'held') {
      held.push({ delivery_id, subscription_id, event_sequence, event_at })
      this.#held.set(subscription_id, held)
    } else if (kind === 'digest') {
      const rest = held.filter((event) => event.event_sequence > event_sequence)
      if (rest.length > 0) this.#held.set(subscription_id, rest)
      else this.#held.delete(subscription_id)
    }
  }

  /** The smallest number of a held event; infinite if there is none. */
  smallestId(): number {
    let smallest = Number.POSITIVE_INFINITY
    for (const [first] of this.#held.values()) smallest = Math.min(smallest, first?.delivery_id ?? smallest)
    return smallest
  }

  /**
   * Stores digests of what is released at `now`, at most one for each subscription; resolves to how many. Those of a deleted subscription
   * are released at once, and of a disabled one when they would be: the digest is then canceled like other deliveries.
   */
  async flush(clickhouse: ClickHouseClient, subscriptionOf: SubscriptionOf, now: Date): Promise<number> {
    let stored = 0
    for (const [id, held] of this.#held) {
      const released = this.#released(held, subscriptionOf(id), now)
      if (released.length === 0) continue
      await addDigest(clickhouse, released, now)
      stored++
    }
    return stored
  }

  /** The first of the held events, up to the first one that is not released yet. */
  #released(held: readonly Held[], subscription: Subscription | undefined, now: Date): Held[] {
    const first = held[0]
    if (first === undefined) return []
    if (subscription === undefined) return held.slice(0, MOST_DIGESTED)
    if (this.#headAt(first, subscription) > now.getTime()) return []
    // If nobody could send when they were released, it may be night again.
    if (subscription.state === 'enabled' && isQuiet(now, subscription)) return []
    const some = held.slice(0, MOST_DIGESTED)
    const end = some.findIndex(({ event_at }) => releaseAt(event_at, subscription) > now)
    return end === -1 ? some : some.slice(0, end)
  }

  #headAt({ delivery_id, event_at }: Held, subscription: Subscription): number {
    const key = `${delivery_id}:${subscription.version}`
    const head = this.#heads.get(subscription.id)
    if (head?.key === key) return head.releasedAt
    const releasedAt = releaseAt(event_at, subscription).getTime()
    this.#heads.set(subscription.id, { key, releasedAt })
    return releasedAt
  }
}
