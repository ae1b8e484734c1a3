import { expect } from 'vitest'
import { addDeliveries } from '../../../../../clickhouse/webhooks/deliveries.js'
import { insertWebhookFanOut } from '../../../../../clickhouse/webhooks/fan-outs.js'
import { test } from '../../../../support/app.js'
import { addAttempts, attempt } from '../../../../support/webhook-deliveries.js'
import { addWebhookSubscription } from '../../../../support/webhook-subscriptions.js'
import { madeUpDelivery } from '../../../../support/webhooks.js'

/** The smallest value that at most the rest of the share exceeds. */
const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] as number

test('metrics report the state of webhooks', async ({ app, clickhouse, clock }) => {
  const lines = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (await app.inject('/metrics')).payload
        .split('\n')
        .filter((line) => line.startsWith('plumbline_webhook_'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    )
  expect(await lines()).toEqual({ plumbline_webhook_pending_deliveries: 0 })

  const { id } = await addWebhookSubscription(clickhouse)
  await addWebhookSubscription(clickhouse)
  await addWebhookSubscription(clickhouse, { state: 'disabled', reason: 'gone' })
  const COUNT = 30
  await addDeliveries(
    clickhouse,
    Array.from({ length: COUNT + 2 }, (_, i) => madeUpDelivery(i, id)),
  )
  const before = (ms: number) => new Date(clock.now.getTime() - ms)
  const of = { subscription_id: id }
  const delays = Array.from({ length: COUNT }, (_, i) => (i * 37) % 997)
  const failure = { outcome: 'failure', next_attempt_at: before(-1000) } as const
  await addAttempts(clickhouse, [
    ...delays.map((delay, i) =>
      attempt({ ...of, delivery_id: i + 1, attempt: 1, due_at: before(60_000 + delay), started_at: before(60_000) }),
    ),
    // Neither counts as a first attempt of the hour.
    attempt({
      ...of,
      ...failure,
      delivery_id: COUNT + 1,
      attempt: 1,
      status: 503,
      due_at: before(9e6),
      started_at: before(4e6),
    }),
    attempt({
      ...of,
      ...failure,
      delivery_id: COUNT + 1,
      attempt: 2,
      status: 0,
      due_at: before(9e6),
      started_at: before(1000),
    }),
  ])
  await insertWebhookFanOut(clickhouse, { sequence: 0, settled_before: COUNT - 1 })
  clock.now = new Date(clock.now.getTime() + 10_000)
  expect(await lines()).toEqual({
    'plumbline_webhook_subscriptions{state="enabled"}': 2,
    'plumbline_webhook_subscriptions{state="disabled"}': 1,
    plumbline_webhook_pending_deliveries: 2,
    'plumbline_webhook_attempts_total{outcome="success",status="2xx"}': COUNT,
    'plumbline_webhook_attempts_total{outcome="failure",status="5xx"}': 1,
    'plumbline_webhook_attempts_total{outcome="failure",status="none"}': 1,
    'plumbline_webhook_dispatch_seconds{quantile="0.5"}': percentile(delays, 0.5) / 1000,
    'plumbline_webhook_dispatch_seconds{quantile="0.99"}': percentile(delays, 0.99) / 1000,
  })
})
