import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Subscription } from './webhook-subscription.js'
import { insertWebhookSubscription, type SubscriptionRequest } from './webhook-subscriptions.js'
import { webhookSubscription, webhookSubscriptionVersion } from './x-webhook-subscriptions.js'

/** What a change makes of the newest version, whose number and ids stay its own; null where there is nothing to change. */
export type SubscriptionChange = (newest: Subscription) => Promise<Subscription | null> | Subscription | null

/** What a request says of itself, where it can be repeated. */
export type RepeatableRequest = Pick<SubscriptionRequest, 'request_key' | 'request_body'>

const NOT_REPEATABLE: RepeatableRequest = { request_key: '', request_body: '' }

/**
 * Adds the version that `change` makes of the newest one, and returns it; the newest one where `change` returns null, and
 * null where there is no such subscription. Where another writer is faster, `change` is asked again about what that has
 * made, so that of changes made at the same time none is lost. Rejects as `change` does.
 */
export async function changeSubscription(
  clickhouse: ClickHouseClient,
  id: string,
  change: SubscriptionChange,
  request: RepeatableRequest = NOT_REPEATABLE,
): Promise<Subscription | null> {
  let tried = 0
  for (;;) {
    const [newest] = await webhookSubscription(clickhouse, { id })
    if (newest === undefined) return null
    const changed = await change(newest)
    if (changed === null) return newest
    // A kill between the note of an insert's token and its row has used a number up.
    tried = Math.max(newest.version, tried) + 1
    const own = { ...changed, id, version: tried, created_at: newest.created_at }
    if (await isAdded(clickhouse, own, request)) return own
  }
}

/** Adds a version where nobody else has; tells whether it is there. */
export async function isAdded(
  clickhouse: ClickHouseClient,
  version: Subscription,
  request: RepeatableRequest = NOT_REPEATABLE,
): Promise<boolean> {
  const change = randomUUID()
  await insertWebhookSubscription(clickhouse, version, { ...request, change })
  const [found] = await webhookSubscriptionVersion(clickhouse, version)
  return found?.change === change
}
