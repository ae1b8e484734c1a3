import type { Logger } from 'pino'
import type { WebhookAttempt } from '../../../clickhouse/webhooks/attempts.js'
import type { DisabledReason, Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { GONE } from './attempt.js'
import { type Failing, FailingSubscriptions } from './failing.js'
import type { Subscribers } from './subscribers.js'

type Options = {
  subscribers: Subscribers
  /** A subscription whose attempts have all failed for this long is disabled. */
  disableAfterMs: number
  /** Called when deliveries of a subscription have to wait, and when it is disabled. */
  onChange: () => void
  /** Reads the subscriptions again. */
  readSubscribers: () => Promise<void>
  log: Logger
}

/** Disables the subscriptions whose receivers are gone or have failed for too long. */
export class Receivers {
  readonly #options: Options
  readonly #disabling = new Set<string>()
  #failing: FailingSubscriptions

  constructor(options: Options) {
    this.#options = options
    this.#failing = new FailingSubscriptions(options.disableAfterMs)
  }

  /** Continues from the subscriptions that were failing, as recorded. */
  resume(failing: Iterable<[string, Failing]>): void {
    this.#failing = new FailingSubscriptions(this.#options.disableAfterMs, failing)
  }

  /** Whether a subscription is being disabled: no attempts are begun meanwhile. */
  isBeingDisabled(subscription_id: string): boolean {
    return this.#disabling.has(subscription_id)
  }

  /** Call when a subscription was changed: earlier failures no longer count. */
  forget(subscription_id: string): void {
    this.#failing.forget(subscription_id)
  }

  /** Takes note of how an attempt ended, and disables the subscription if that was one failure too many. */
  ended(subscription: Subscription, { outcome, status, started_at }: WebhookAttempt): void {
    if (outcome === 'success') this.#failing.forget(subscription.id)
    else if (status === GONE) void this.#disable(subscription, 'gone')
    else if (this.#failing.failed(subscription.id, started_at)) void this.#disable(subscription, 'failing')
  }

  async #disable(subscription: Subscription, reason: DisabledReason): Promise<void> {
    const { subscribers, onChange, readSubscribers, log } = this.#options
    if (this.#disabling.has(subscription.id)) return
    this.#disabling.add(subscription.id)
    onChange()
    try {
      await subscribers.disable(subscription, reason)
      await readSubscribers()
    } catch (error) {
      log.error(
        { subscription: subscription.id, reason: String(error) },
        'a webhook could not be disabled; the next failure tries again',
      )
    }
    this.#disabling.delete(subscription.id)
    onChange()
  }
}
