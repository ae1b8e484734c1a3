import type { Logger } from 'pino'
import { urlOwner } from '../../../clickhouse/webhooks/secret-urls.js'
import { type Subscription, sealedSecrets } from '../../../clickhouse/webhooks/subscriptions.js'
import { open } from '../../../process/sealed-secret.js'

/** The decrypted secrets and secret URLs of subscriptions. Each is decrypted once and kept in memory only. */
export class SigningKeys {
  readonly #secretsKey: Buffer
  readonly #log: Logger
  #opened = new Map<string, string | null>()

  constructor(secretsKey: Buffer, log: Logger) {
    this.#secretsKey = secretsKey
    this.#log = log
  }

  /** The secrets that sign deliveries to a subscription at `at`, newest first; null if one cannot be decrypted. */
  of(subscription: Subscription, at: Date): string[] | null {
    const secrets = sealedSecrets(subscription, at).map((sealed) => this.#open(subscription.id, sealed))
    return secrets.every((secret) => secret !== null) ? secrets : null
  }

  /** The URL of a subscription; null if it cannot be decrypted. */
  urlOf({ id, url, sealed_url }: Subscription): string | null {
    return sealed_url === '' ? url : this.#open(urlOwner(id), sealed_url)
  }

  /** Forgets the secrets that none of these subscriptions has. */
  keepThoseOf(subscriptions: readonly Subscription[]): void {
    const inUse = new Set(
      subscriptions.flatMap(({ secret, previous_secret, sealed_url }) => [secret, previous_secret, sealed_url]),
    )
    this.#opened = new Map([...this.#opened].filter(([sealed]) => inUse.has(sealed)))
  }

  #open(id: string, sealed: string): string | null {
    const opened = this.#opened.get(sealed)
    if (opened !== undefined) return opened
    let secret: string | null = null
    try {
      secret = open(this.#secretsKey, id, sealed)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.error({ subscription: id, reason }, 'the secret of a webhook cannot be decrypted: its deliveries wait')
    }
    this.#opened.set(sealed, secret)
    return secret
  }
}
