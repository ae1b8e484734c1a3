import { expect } from 'vitest'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { changeSubscription, webhookSubscription } from '../../../../clickhouse/webhooks/subscriptions.js'
import { type Answer, startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import {
  byDelivery,
  deliveriesOver,
  deliveryIds,
  eventually,
  madeUpDelivery,
  startDispatcher,
  storedAttempts,
} from '../../../support/webhooks.js'

/** A room that takes `limit` messages in any `windowMs`, and refuses the others by `refuse`, which gets the seconds to wait. */
function room(limit: number, windowMs: number, refuse: (seconds: number) => Answer): () => Answer {
  let taken: number[] = []
  return () => {
    const now = Date.now()
    taken = taken.filter((at) => at > now - windowMs)
    if (taken.length >= limit) return refuse(((taken[0] ?? now) + windowMs - now) / 1000)
    taken.push(now)
    return 200
  }
}

test.for<[string, (seconds: number) => Answer]>([
  ['Retry-After with a fraction', (s) => ({ status: 429, headers: { 'retry-after': s.toFixed(2) } })],
  ['a body as of Telegram', (s) => ({ status: 429, body: `{"parameters":{"retry_after":${Math.ceil(s)}}}` })],
  ['nothing but 429', () => 429],
])(
  'a burst arrives whole at a room that takes a few at a time, and says so by %s',
  async ([, refuse], { clickhouse }) => {
    const answers = room(10, 1000, refuse)
    const receiver = await startReceiver(({ path }) => (path === '/room' ? answers() : 200))
    for (const id of ['room', 'other'])
      await addWebhookSubscription(clickhouse, { id: `wh_${id}`, url: receiver.url(`/${id}`) })
    const burst = Array.from({ length: 60 }, (_, i) => madeUpDelivery(i, 'wh_room'))
    await addDeliveries(clickhouse, burst)
    await addDeliveries(
      clickhouse,
      Array.from({ length: 40 }, (_, i) => madeUpDelivery(i, 'wh_other')),
    )
    const { stop } = startDispatcher(clickhouse)
    await deliveriesOver(clickhouse, 100, 60)
    await stop()
    await receiver.close()

    const attempts = (await storedAttempts(clickhouse)).filter(({ subscription_id }) => subscription_id === 'wh_room')
    const deliveries = byDelivery(attempts)
    expect(deliveries.size).toBe(60)
    for (const ofOne of deliveries.values()) {
      expect(new Set(ofOne.map(({ attempt }) => attempt))).toEqual(new Set([1]))
      expect(ofOne.slice(0, -1).every(({ outcome, status }) => outcome === 'refused' && status === 429)).toBe(true)
      expect(ofOne.at(-1)?.outcome).toBe('success')
    }
    // Eight were in flight at first; then each period has one too many.
    expect(attempts.length - 60).toBeLessThan(30)
    // Nothing is sent to a paused subscription, except what was in flight when it was paused; others do not wait for it.
    const paths = receiver.received.map(({ path }) => path)
    expect(paths.lastIndexOf('/other')).toBeLessThan(paths.lastIndexOf('/room'))
  },
)

test('a pause survives a restart, and ends when the subscription is changed', async ({ clickhouse }) => {
  let isFull = true
  const receiver = await startReceiver(({ path }) =>
    path === '/full' && isFull ? { status: 429, headers: { 'retry-after': '3600' } } : 200,
  )
  for (const id of ['full', 'other'])
    await addWebhookSubscription(clickhouse, { id: `wh_${id}`, url: receiver.url(`/${id}`) })
  const add = (ids: number[], id: string) =>
    addDeliveries(
      clickhouse,
      ids.map((i) => madeUpDelivery(i, id)),
    )
  const sentTo = (path: string): number[] =>
    receiver.received.filter((hook) => hook.path === path).map(({ delivery_id }) => delivery_id)
  await add([1, 2, 3], 'wh_full')
  const first = startDispatcher(clickhouse)
  await eventually('all are refused', 60, async () => (await storedAttempts(clickhouse)).length === 3)
  await first.stop()
  isFull = false
  const second = startDispatcher(clickhouse)
  await add([4, 5], 'wh_full')
  await add([6], 'wh_other')
  await eventually('others are sent to', 60, () => sentTo('/other').length === 1)
  expect(sentTo('/full')).toHaveLength(3)
  await changeSubscription(clickhouse, 'wh_full', (newest) => ({ ...newest, label: 'changed' }))
  await deliveriesOver(clickhouse, 6, 60)
  await second.stop()
  await receiver.close()
  const ids = await deliveryIds(clickhouse, 'wh_full')
  // In the order in which they waited.
  expect(sentTo('/full').slice(3)).toEqual(ids)
  const outcomes = (await storedAttempts(clickhouse)).filter(({ subscription_id }) => subscription_id === 'wh_full')
  expect(outcomes.map(({ delivery_id, attempt, outcome }) => [delivery_id, attempt, outcome])).toEqual(
    ids.flatMap((id, i) => [...(i < 3 ? [[id, 1, 'refused']] : []), [id, 1, 'success']]),
  )
})

test('a receiver that has refused everything for a long time is disabled', async ({ clickhouse }) => {
  const receiver = await startReceiver(() => ({ status: 429, headers: { 'retry-after': '0' } }))
  await addWebhookSubscription(clickhouse, { id: 'wh_full', url: receiver.url('/full') })
  await addDeliveries(
    clickhouse,
    Array.from({ length: 20 }, (_, i) => madeUpDelivery(i, 'wh_full')),
  )
  const { stop } = startDispatcher(clickhouse, { disableAfterMs: 0 })
  await deliveriesOver(clickhouse, 20, 60)
  await stop()
  await receiver.close()
  const subscription = await webhookSubscription(clickhouse, { id: 'wh_full' })
  expect([subscription?.state, subscription?.reason]).toEqual(['disabled', 'failing'])
})
