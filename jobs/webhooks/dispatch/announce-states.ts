import type { ClickHouseClient } from '@clickhouse/client'
import { healthDriftEvent } from '../../../clickhouse/events/types.js'
import type { ComponentHealth } from '../../../clickhouse/jobs/health.js'
import { newestHealth } from '../../../clickhouse/jobs/health.js'
import type { Subscription } from '../../../clickhouse/webhooks/subscriptions.js'
import { announce } from '../../detect/announce.js'

/**
 * The state of a subscription as a component of the service; null if it is deleted or an admin disabled it, since the
 * admin knows.
 */
function webhookHealth({ id, state, reason }: Subscription): ComponentHealth | null {
  if (state === 'deleted' || reason === 'admin') return null
  const status = state === 'enabled' ? 'ok' : 'disabled'
  return { component: `webhook ${id}`, status, lag_blocks: null, lag_seconds: null }
}

/**
 * Announces the subscriptions that were disabled because their receivers fail or are gone, and those that have been
 * enabled again since. Compares the stored states, so that a crash between a change and its announcement loses nothing.
 */
export async function announceWebhookStates(
  clickhouse: ClickHouseClient,
  subscriptions: readonly Subscription[],
  now: Date,
): Promise<void> {
  const before = new Map((await newestHealth(clickhouse)).map((health) => [health.component, health]))
  const changed = subscriptions
    .map(webhookHealth)
    .filter((health) => health !== null)
    .filter(({ component, status }) => status !== (before.get(component)?.status ?? 'ok'))
  const events = changed.map((health) => healthDriftEvent(health, now, before.get(health.component)?.id ?? ''))
  await announce(clickhouse, events, { at: now, revision: 0 })
}
