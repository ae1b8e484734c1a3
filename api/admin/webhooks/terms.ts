import { targetRules } from '../../../clickhouse/webhooks/webhook-env.js'
import type { TargetRules } from '../../../clickhouse/webhooks/webhook-target.js'
import type { ApiConfig } from '../../config.js'
import { WebhooksNotConfiguredError } from '../../http/errors.js'

/** On which terms webhooks are taken on. */
export type WebhookTerms = {
  /** Seals the secrets of subscriptions. */
  secretsKey: Buffer
  /** Where they may be sent. */
  targets: TargetRules
  /** Subscriptions at most. */
  mostSubscriptions: number
}

/** The terms that the environment names; null without a key to seal secrets with. */
export const webhookTermsOf = (config: ApiConfig): WebhookTerms | null =>
  config.SECRETS_KEY === undefined
    ? null
    : {
        secretsKey: config.SECRETS_KEY,
        targets: targetRules(config),
        mostSubscriptions: config.WEBHOOK_MAX_SUBSCRIPTIONS,
      }

/** The terms; throws the 503 of a service that has none. */
export function required(terms: WebhookTerms | null): WebhookTerms {
  if (terms === null) throw new WebhooksNotConfiguredError()
  return terms
}
