import { MAX_ATTEMPTS } from '../../../clickhouse/webhooks/schedule.js'

/** Since when every attempt of a subscription has failed, and how many attempts that are. */
export type Failing = { since: Date; failures: number }

/**
 * The minimum number of failures, as many as a delivery has attempts: one failing delivery after a quiet week must not
 * disable a receiver.
 */
const MIN_FAILURES = MAX_ATTEMPTS

/** Tracks since when subscriptions have been failing, so that those that fail for too long can be disabled. */
export class FailingSubscriptions {
  readonly #failing: Map<string, Failing>
  readonly #disableAfterMs: number

  constructor(disableAfterMs: number, failing: Iterable<[string, Failing]> = []) {
    this.#disableAfterMs = disableAfterMs
    this.#failing = new Map(failing)
  }

  /** Call when an attempt succeeded or the subscription was changed: earlier failures no longer count. */
  forget(subscription_id: string): void {
    this.#failing.delete(subscription_id)
  }

  /** Call when an attempt failed. Returns whether the subscription has failed for so long that it must be disabled. */
  failed(subscription_id: string, at: Date): boolean {
    const { since, failures } = this.#failing.get(subscription_id) ?? { since: at, failures: 0 }
    this.#failing.set(subscription_id, { since, failures: failures + 1 })
    return failures + 1 >= MIN_FAILURES && at.getTime() - since.getTime() >= this.#disableAfterMs
  }
}
