import { z } from 'zod'
import { type TargetRules, targetRules } from '../../../clickhouse/webhooks/targets.js'
import type { ApiConfig } from '../../config.js'
import { WebhooksNotConfiguredError } from './errors.js'

/** The settings of webhooks. */
export type WebhookTerms = {
  /** Encrypts the secrets of subscriptions. */
  secretsKey: Buffer
  /** Where they may be sent. */
  targets: TargetRules
  /** Most subscriptions. */
  mostSubscriptions: number
}

/** The settings in the environment; null without SECRETS_KEY. */
export const webhookTermsOf = (config: ApiConfig): WebhookTerms | null =>
  config.SECRETS_KEY === undefined
    ? null
    : {
        secretsKey: config.SECRETS_KEY,
        targets: targetRules(config),
        mostSubscriptions: config.WEBHOOK_MAX_SUBSCRIPTIONS,
      }

/** The settings; throws a 503 if there are none. */
export function required(terms: WebhookTerms | null): WebhookTerms {
  if (terms === null) throw new WebhooksNotConfiguredError()
  return terms
}

/** The `config` of a route for the operator. */
export const ADMIN = { tier: 'admin' } as const

/** The parts of the OpenAPI description that all these routes share. */
export const ofAdmin = { tags: ['admin'], security: [{ admin: [] }] }

/** The path parameter that identifies a subscription. */
export const SubscriptionParams = z.object({
  id: z
    .string()
    .max(100)
    .meta({ description: 'The id returned when it was created, and in the list', examples: ['wh_6f1d0b9a52c3e874'] }),
})
