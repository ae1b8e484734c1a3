import { MAX_ATTEMPTS } from '../../../clickhouse/webhooks/schedule.js'

/** Since when every attempt of a subscription has failed, and how many have. */
export type Failing = { since: Date; failures: number }

/** One bad delivery after a quiet week is no reason to give a receiver up: as many failures as a delivery has attempts. */
const LEAST_FAILURES = MAX_ATTEMPTS

/** Which subscriptions fail, and since when, so that those that have for too long can be disabled. */
export class FailingSubscriptions {
  readonly #failing: Map<string, Failing>
  readonly #disableAfterMs: number

  constructor(disableAfterMs: number, failing: Iterable<[string, Failing]> = []) {
    this.#disableAfterMs = disableAfterMs
    this.#failing = new Map(failing)
  }

  /** An attempt has succeeded, or the subscription was changed: what was before does not count any more. */
  forget(subscription_id: string): void {
    this.#failing.delete(subscription_id)
  }

  /** An attempt has failed. Returns whether the subscription has failed for so long that it is to be disabled. */
  failed(subscription_id: string, at: Date): boolean {
    const { since, failures } = this.#failing.get(subscription_id) ?? { since: at, failures: 0 }
    this.#failing.set(subscription_id, { since, failures: failures + 1 })
    return failures + 1 >= LEAST_FAILURES && at.getTime() - since.getTime() >= this.#disableAfterMs
  }
}
