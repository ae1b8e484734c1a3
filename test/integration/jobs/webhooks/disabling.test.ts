import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import {
  changeSubscription,
  webhookSubscription as subscriptionOf,
} from '../../../../clickhouse/webhooks/subscriptions.js'
import { storedEvents } from '../../../support/events.js'
import { startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import {
  deliveriesOver,
  eventually,
  madeUpDelivery,
  startDispatcher,
  storedAttempts,
} from '../../../support/webhooks.js'

const drifts = async (clickhouse: ClickHouseClient): Promise<unknown[]> =>
  (await storedEvents(clickhouse)).map(({ data }) => [data.component, data.status])

const stateOf = async (clickhouse: ClickHouseClient, id: string): Promise<unknown[]> => {
  const subscription = await subscriptionOf(clickhouse, { id })
  return [subscription?.state, subscription?.reason]
}

test('a receiver that answers 410 is sent nothing more, and this is announced to the others once', async ({
  clickhouse,
}) => {
  let isGone = true
  const receiver = await startReceiver(({ path }) => (path === '/gone' && isGone ? 410 : 200))
  await addWebhookSubscription(clickhouse, { id: 'wh_gone', url: receiver.url('/gone') })
  await addWebhookSubscription(clickhouse, { id: 'wh_well', url: receiver.url('/well'), after_sequence: 0 })
  const first = startDispatcher(clickhouse, { maxInFlightOfOne: 1 })
  await addDeliveries(
    clickhouse,
    Array.from({ length: 20 }, (_, i) => madeUpDelivery(i, 'wh_gone')),
  )
  await eventually('it is announced', 120, () =>
    receiver.received.some(({ path, body }) => path === '/well' && JSON.parse(body).data.status === 'disabled'),
  )
  await deliveriesOver(clickhouse, 21)
  await first.stop()
  expect(await stateOf(clickhouse, 'wh_gone')).toEqual(['disabled', 'gone'])
  expect(await drifts(clickhouse)).toEqual([['webhook wh_gone', 'disabled']])
  const sent = (await storedAttempts(clickhouse)).filter(({ subscription_id }) => subscription_id === 'wh_gone')
  expect(sent[0]).toMatchObject({ outcome: 'failure', status: 410, next: null })
  expect(sent.slice(1).map(({ outcome }) => outcome)).toEqual(Array(19).fill('canceled'))

  isGone = false
  const second = startDispatcher(clickhouse)
  await changeSubscription(clickhouse, 'wh_gone', (newest) => ({ ...newest, state: 'enabled', reason: '' }))
  await eventually('it is announced', 120, async () => (await drifts(clickhouse)).length === 2)
  await second.stop()
  await receiver.close()
  expect(await drifts(clickhouse)).toEqual([
    ['webhook wh_gone', 'disabled'],
    ['webhook wh_gone', 'ok'],
  ])
})

test('a receiver that has only failed for a long time is disabled, and one that sometimes succeeds is not', async ({
  clickhouse,
}) => {
  const receiver = await startReceiver(({ path, delivery_id }) =>
    path === '/failing' || delivery_id % 3 > 0 ? 500 : 200,
  )
  for (const id of ['failing', 'moody'])
    await addWebhookSubscription(clickhouse, { id: `wh_${id}`, url: receiver.url(`/${id}`) })
  // The time limit is 0 here, but seven failures are still needed.
  const { stop } = startDispatcher(clickhouse, { disableAfterMs: 0, delaysSeconds: [], maxInFlightOfOne: 1 })
  const wanted = Array.from({ length: 60 }, (_, i) => madeUpDelivery(i, i % 2 === 0 ? 'wh_failing' : 'wh_moody'))
  await addDeliveries(clickhouse, wanted)
  await deliveriesOver(clickhouse, 60)
  await eventually('it is disabled', 120, async () => (await drifts(clickhouse)).length === 1)
  await stop()
  await receiver.close()
  expect(await stateOf(clickhouse, 'wh_failing')).toEqual(['disabled', 'failing'])
  expect(await stateOf(clickhouse, 'wh_moody')).toEqual(['enabled', ''])
  expect(await drifts(clickhouse)).toEqual([['webhook wh_failing', 'disabled']])
  const failing = (await storedAttempts(clickhouse)).filter(({ subscription_id }) => subscription_id === 'wh_failing')
  expect(failing.filter(({ outcome }) => outcome === 'failure').length).toBeGreaterThanOrEqual(7)
})

test('without the right SECRETS_KEY deliveries wait, while those of other subscriptions are sent', async ({
  clickhouse,
}) => {
  const receiver = await startReceiver(() => 200)
  await addWebhookSubscription(clickhouse, { id: 'wh_well', url: receiver.url('/') })
  const foreign = await addWebhookSubscription(clickhouse, { id: 'wh_foreign', url: receiver.url('/') })
  const { secret } = foreign
  await changeSubscription(clickhouse, 'wh_foreign', (newest) => ({
    ...newest,
    secret: `${secret.slice(0, -8)}AAAAAAA=`,
  }))
  const { dispatcher, stop } = startDispatcher(clickhouse)
  await addDeliveries(
    clickhouse,
    [1, 2, 3, 4].map((i) => madeUpDelivery(i, i % 2 ? 'wh_foreign' : 'wh_well')),
  )
  await deliveriesOver(clickhouse, 2)
  expect(dispatcher.size).toMatchObject({ due: 2 })
  await changeSubscription(clickhouse, 'wh_foreign', (newest) => ({ ...newest, secret }))
  await deliveriesOver(clickhouse, 4)
  await stop()
  await receiver.close()
  expect(
    (await storedAttempts(clickhouse)).every(({ attempt, outcome }) => attempt === 1 && outcome === 'success'),
  ).toBe(true)
})

test('no attempt begins while the lease is not known to be valid', async ({ clickhouse }) => {
  const receiver = await startReceiver(() => 200)
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/') })
  let isGood = false
  let asked = 0
  const mayBegin = (): boolean => {
    asked++
    return isGood
  }
  const { dispatcher, stop } = startDispatcher(clickhouse, { mayBegin })
  await addDeliveries(clickhouse, [madeUpDelivery(1, 'wh_1')])
  await eventually('it is due', 120, () => dispatcher.size.due === 1)
  const before = asked
  await eventually('it is asked again', 120, () => asked > before + 3)
  expect(receiver.received).toEqual([])
  isGood = true
  await deliveriesOver(clickhouse, 1)
  await stop()
  await receiver.close()
  expect(receiver.received).toHaveLength(1)
})
