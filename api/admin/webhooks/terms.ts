import { z } from 'zod'
import { type TargetRules, targetRules } from '../../../clickhouse/webhooks/targets.js'
import type { ApiConfig } from '../../config.js'
import { WebhooksNotConfiguredError } from './errors.js'

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

/** The `config` of a route for the operator. */
export const ADMIN = { tier: 'admin' } as const

/** What the descriptions of these routes have in common. */
export const ofAdmin = { tags: ['admin'], security: [{ admin: [] }] }

/** What names a subscription in a path. */
export const SubscriptionParams = z.object({
  id: z.string().max(100).meta({ description: 'The id returned when it was created, and in the list' }),
})
