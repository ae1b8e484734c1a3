import type { ClickHouseClient } from '@clickhouse/client'
import { causeOf, repeatable } from '../../api/admin/webhooks/request-key.js'
import { addDeliveries } from '../../clickhouse/webhooks/deliveries.js'
import { addVersion } from '../../clickhouse/webhooks/subscriptions.js'
import { addAttempts, attempt } from './webhook-deliveries.js'
import { addWebhookSubscription, webhookSubscription } from './webhook-subscriptions.js'
import { madeUpDelivery } from './webhooks.js'

/** Subscriptions of a market's operator. */
export const WEBHOOK_IDS = {
  enabled: 'wh_0123456789abcdef',
  disabled: 'wh_0123456789abcde0',
  toDelete: 'wh_0123456789abcde1',
}

/** The limit of subscriptions, which leaves room for one more. */
export const MOST_WEBHOOKS = 5

/** An Idempotency-Key that was already used with every request that accepts one. */
export const USED_KEY = 'b1f0c3a2-7e55-4f0e-9a54-3f6f1f7c2d10'

/** Adds them, with a delivery that has failed once and is to be tried again; `end` in unix seconds. */
export async function addMarketWebhooks(clickhouse: ClickHouseClient, end: number): Promise<void> {
  const id = WEBHOOK_IDS.enabled
  const shown = { label: 'The night shift', url: 'https://hooks.example.com/night' }
  await addWebhookSubscription(clickhouse, { ...shown, id })
  await addWebhookSubscription(clickhouse, { ...shown, id: WEBHOOK_IDS.disabled, state: 'disabled', reason: 'gone' })
  await addWebhookSubscription(clickhouse, { ...shown, id: WEBHOOK_IDS.toDelete })
  await addVersion(clickhouse, webhookSubscription(shown), repeatable(['webhooks'], USED_KEY, 'something') ?? undefined)
  await addDeliveries(clickhouse, [
    madeUpDelivery(1, id),
    madeUpDelivery(2, id, { kind: 'test', cause: causeOf(repeatable(['test', id], USED_KEY, 'something')) }),
    madeUpDelivery(3, id, { kind: 'replay', cause: causeOf(repeatable(['replay', id], USED_KEY, 'something')) }),
  ])
  const [first, second] = [new Date((end - 60) * 1000), new Date((end - 29) * 1000)]
  const failure = { outcome: 'failure', status: 503, response: 'down for maintenance', duration_ms: 84 } as const
  await addAttempts(clickhouse, [
    attempt({
      delivery_id: 1,
      attempt: 1,
      subscription_id: id,
      started_at: first,
      ...failure,
      next_attempt_at: second,
    }),
    attempt({ delivery_id: 1, attempt: 2, subscription_id: id, started_at: second }),
    attempt({
      ...{ delivery_id: 2, attempt: 1, subscription_id: id, started_at: second },
      ...{ outcome: 'failure', status: 0, error: 'no response within 10 s', response: '', duration_ms: 10_000 },
      next_attempt_at: new Date((end + 12) * 1000),
    }),
  ])
}
