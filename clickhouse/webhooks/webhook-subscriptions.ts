import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'
import type { Subscription } from './webhook-subscription.js'

/** What asked for a version. */
export type SubscriptionRequest = {
  /** Random, of this very request. */
  change: string
  /** What a repeat of the request has in common with it; empty where it cannot be repeated. */
  request_key: string
  /** What a repeat has to say as well; empty without a `request_key`. */
  request_body: string
}

/**
 * Adds a version of a subscription. Each is added once: of two writers of one version the second changes nothing, and
 * finds the `change` of the first.
 */
export function insertWebhookSubscription(
  clickhouse: ClickHouseClient,
  subscription: Subscription,
  request: SubscriptionRequest,
): Promise<void> {
  const { previous_secret_until, created_at, changed_at, ...values } = subscription
  const row = {
    ...values,
    ...request,
    previous_secret_until: previous_secret_until && seconds(previous_secret_until),
    created_at: seconds(created_at),
    changed_at: seconds(changed_at),
  }
  return insertRows(clickhouse, 'webhook_subscriptions', [row], `${subscription.id}:${subscription.version}`)
}

/** Unix seconds to the millisecond, which is how a DateTime64(3) is written. */
const seconds = (time: Date): string => (time.getTime() / 1000).toFixed(3)
