import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import {
  allWebhookSubscriptions,
  changeSubscription,
  type DisabledReason,
  type Subscription,
} from '../../../clickhouse/webhooks/subscriptions.js'
import type { LineMode } from './fair-queue.js'
import { SigningKeys } from './signing-keys.js'

type Options = { clickhouse: ClickHouseClient; secretsKey: Buffer; log: Logger }

/** The subscriptions as last read, with their secrets. */
export class Subscribers {
  readonly #clickhouse: ClickHouseClient
  readonly #log: Logger
  readonly #keys: SigningKeys
  #subscriptions: Map<string, Subscription> | null = null

  constructor({ clickhouse, secretsKey, log }: Options) {
    this.#clickhouse = clickhouse
    this.#log = log
    this.#keys = new SigningKeys(secretsKey, log)
  }

  /** All except deleted ones. */
  get all(): Subscription[] {
    return [...(this.#subscriptions?.values() ?? [])]
  }

  /** Whether any is enabled, as far as they have been read. */
  get areAnyEnabled(): boolean {
    return this.all.some(({ state }) => state === 'enabled')
  }

  get(id: string): Subscription | undefined {
    return this.#subscriptions?.get(id)
  }

  /**
   * What happens to the due deliveries of a subscription. Once subscriptions have been read, an unknown one has been
   * deleted.
   */
  modeOf(id: string): LineMode {
    if (this.#subscriptions === null) return 'wait'
    const subscription = this.#subscriptions.get(id)
    if (subscription?.state !== 'enabled') return 'cancel'
    const isReadable = this.secretsOf(subscription, new Date()) !== null && this.urlOf(subscription) !== null
    return isReadable ? 'send' : 'wait'
  }

  /** The secrets that sign a delivery at `at`, newest first; null if one cannot be decrypted. */
  secretsOf(subscription: Subscription, at: Date): string[] | null {
    return this.#keys.of(subscription, at)
  }

  /** Where deliveries are sent; null if it cannot be decrypted. */
  urlOf(subscription: Subscription): string | null {
    return this.#keys.urlOf(subscription)
  }

  /** Reads all subscriptions; resolves to those that have changed since the last read. */
  async read(): Promise<Subscription[]> {
    const before = this.#subscriptions
    const all = await allWebhookSubscriptions(this.#clickhouse)
    this.#subscriptions = new Map(all.map((subscription) => [subscription.id, subscription]))
    this.#keys.keepThoseOf(all)
    return all.filter(({ id, version }) => before?.get(id)?.version !== version)
  }

  /** Disables a subscription, unless it is no longer enabled or its URL has changed meanwhile. */
  async disable({ id, url, sealed_url }: Subscription, reason: DisabledReason): Promise<void> {
    const now = new Date()
    await changeSubscription(this.#clickhouse, id, (newest) =>
      newest.state === 'enabled' && newest.url === url && newest.sealed_url === sealed_url
        ? { ...newest, state: 'disabled', reason, changed_at: now }
        : null,
    )
    this.#log.warn({ subscription: id, reason }, 'a webhook was disabled')
  }
}
