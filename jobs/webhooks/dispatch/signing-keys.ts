import type { Logger } from 'pino'
import { type Subscription, sealedSecrets } from '../../../clickhouse/webhooks/subscriptions.js'
import { open } from '../../../process/sealed-secret.js'

/** The secrets of subscriptions in the clear, opened once for each; in memory only. */
export class SigningKeys {
  readonly #secretsKey: Buffer
  readonly #log: Logger
  #opened = new Map<string, string | null>()

  constructor(secretsKey: Buffer, log: Logger) {
    this.#secretsKey = secretsKey
    this.#log = log
  }

  /** The secrets that sign what a subscription is sent at a time, the newest first; null where one cannot be opened. */
  of(subscription: Subscription, at: Date): string[] | null {
    const secrets = sealedSecrets(subscription, at).map((sealed) => this.#open(subscription.id, sealed))
    return secrets.every((secret) => secret !== null) ? secrets : null
  }

  /** Forgets the secrets that none of these has any more. */
  keepThoseOf(subscriptions: readonly Subscription[]): void {
    const known = new Set(subscriptions.flatMap(({ secret, previous_secret }) => [secret, previous_secret]))
    this.#opened = new Map([...this.#opened].filter(([sealed]) => known.has(sealed)))
  }

  #open(id: string, sealed: string): string | null {
    const known = this.#opened.get(sealed)
    if (known !== undefined) return known
    let secret: string | null = null
    try {
      secret = open(this.#secretsKey, id, sealed)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.error({ subscription: id, reason }, 'its deliveries wait: its secret cannot be opened')
    }
    this.#opened.set(sealed, secret)
    return secret
  }
}
