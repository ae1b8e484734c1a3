import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { addDeliveries } from '../../../../clickhouse/webhooks/deliveries.js'
import { MAX_ATTEMPTS } from '../../../../clickhouse/webhooks/schedule.js'
import { addEvents, madeUpEvent, storedEvents } from '../../../support/events.js'
import { type Answer, faultyAnswer, isSigned, startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import {
  byDelivery,
  deliveriesOver,
  deliveryIds,
  eventually,
  madeUpDelivery,
  SECRET,
  startDispatcher,
  storedAttempts,
} from '../../../support/webhooks.js'

const STABLE = `0x20c1${'0'.repeat(35)}1`
const SEED = Number(process.env.FAULT_SEED ?? 1)
/** So that seven attempts take seconds. */
const SHORT = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]

test('an event is sent once to each subscription that wants it and is older than it', async ({ clickhouse }) => {
  const receiver = await startReceiver(() => 200)
  const now = Math.floor(Date.now() / 1000) * 1000
  const event = (i: number, changes = {}) => madeUpEvent(i, { occurred_at: new Date(now), ...changes })
  await addEvents(clickhouse, [event(1)])
  const subscribe = (path: string, given = {}) =>
    addWebhookSubscription(clickhouse, { id: `wh_${path.slice(1)}`, url: receiver.url(path), ...given })
  await subscribe('/all')
  await subscribe('/later', { after_sequence: 1 })
  await subscribe('/ends', { event_types: ['peg_break.ended'] })
  await subscribe('/stable', { stable_filter: [STABLE] })
  await subscribe('/mild', { severity: 'mild', min_seconds: 300 })
  await subscribe('/disabled', { state: 'disabled', reason: 'admin' })
  const mild = { stable: STABLE, severity: 'mild', started_at: new Date(now - 300_000).toISOString() }
  const { stop } = startDispatcher(clickhouse)
  await deliveriesOver(clickhouse, 2)
  await addEvents(clickhouse, [
    event(2, { type: 'peg_break.ended', stables: [STABLE], data: mild }),
    event(3, { type: 'system.health_drift' }),
    event(4, { stables: [`0x20c1${'0'.repeat(35)}2`] }),
    // An event of long ago that a backfill finds is in the log but is not sent.
    event(5, { occurred_at: new Date(now - 25 * 3_600_000) }),
  ])
  await deliveriesOver(clickhouse, 2 + 11)
  await stop()
  const again = startDispatcher(clickhouse)
  await addEvents(clickhouse, [event(6, { type: 'peg_break.ended' })])
  await deliveriesOver(clickhouse, 2 + 11 + 4)
  await again.stop()
  await receiver.close()

  const told = (path: string): unknown[] =>
    receiver.received.filter((hook) => hook.path === path).map(({ body }) => JSON.parse(body).event_id)
  const id = (i: number): string => madeUpEvent(i).id
  expect(told('/all')).toEqual([1, 2, 3, 4, 6].map(id))
  expect(told('/later')).toEqual([2, 3, 4, 6].map(id))
  expect(told('/ends')).toEqual([2, 6].map(id))
  expect(told('/stable')).toEqual([1, 2, 3, 6].map(id))
  expect(told('/mild')).toEqual([2, 3].map(id))
  expect(told('/disabled')).toEqual([])
  expect(new Set(receiver.received.map(({ delivery_id }) => delivery_id)).size).toBe(17)
  for (const hook of receiver.received) {
    expect(isSigned(hook, SECRET)).toBe(true)
    expect(hook.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhook/1 (+http://localhost)',
      'x-service-event': JSON.parse(hook.body).event,
    })
  }
  const ended = receiver.received.find(({ path }) => path === '/ends')
  expect(JSON.parse(ended?.body ?? '')).toEqual({
    event: 'peg_break.ended',
    data: mild,
    delivery_id: ended?.delivery_id,
    event_id: id(2),
    published_at: (await storedEvents(clickhouse)).find((one) => one.id === id(2))?.recorded_at.toISOString(),
  })
})

test('with faulty receivers every delivery has the attempts that their responses require, each recorded', async ({
  clickhouse,
}) => {
  const DELIVERIES = 240
  const answers = new Map<number, Answer[]>()
  const receiver = await startReceiver((hook, times) => {
    const answer = hook.path === '/dead' ? 'hang' : faultyAnswer(SEED, hook.path === '/bad' ? 0.8 : 0.4, hook, times)
    answers.set(hook.delivery_id, [...(answers.get(hook.delivery_id) ?? []), answer])
    return answer
  })
  for (const path of ['/bad', '/fair', '/dead'])
    await addWebhookSubscription(clickhouse, { id: `wh_${path.slice(1)}`, url: receiver.url(path) })
  const { stop } = startDispatcher(clickhouse, { delaysSeconds: SHORT, maxInFlightOfOne: 32 })
  const subscriptionOf = (i: number): string => (i % 20 === 0 ? 'wh_dead' : i % 2 === 0 ? 'wh_bad' : 'wh_fair')
  const wanted = Array.from({ length: DELIVERIES }, (_, i) => madeUpDelivery(i, subscriptionOf(i)))
  await addDeliveries(clickhouse, wanted)
  await deliveriesOver(clickhouse, DELIVERIES)
  await stop()
  await receiver.close()

  const attempts = await storedAttempts(clickhouse)
  const byId = byDelivery(attempts)
  expect(byId.size).toBe(DELIVERIES)
  let failed = 0
  let late = 0
  for (const [delivery_id, ofDelivery] of byId) {
    const answered = answers.get(delivery_id) ?? []
    expect(ofDelivery.map(({ attempt }) => attempt)).toEqual(ofDelivery.map((_, i) => i + 1))
    const isFailed = ofDelivery.at(-1)?.outcome === 'failure'
    if (isFailed) {
      failed++
      expect(ofDelivery).toHaveLength(MAX_ATTEMPTS)
    }
    // On a busy machine an attempt may time out although it is answered, and its request may arrive after that of the next
    // attempt, or never: then the order of the requests is not that of the attempts.
    const timeouts = ofDelivery.filter(({ error }) => error === 'timeout').length
    const hangs = answered.filter((answer) => answer === 'hang').length
    if (timeouts !== hangs || answered.length !== ofDelivery.length) {
      late++
      continue
    }
    const isGood = (answer: Answer | undefined): boolean =>
      answer === 'slow' || (typeof answer === 'number' && answer < 300)
    // The expected attempts: until the first good response, seven at most.
    expect(answered.slice(0, -1).some(isGood)).toBe(false)
    expect(isGood(answered.at(-1))).toBe(!isFailed)
    for (const [i, { status, error, response, next }] of ofDelivery.entries()) {
      const answer = answered[i] as Answer
      if (answer === 'hang') expect([status, error]).toEqual([0, 'timeout'])
      else if (answer === 'slow') expect([status, error]).toEqual([200, ''])
      else if (answer === 'reset') expect([status, error]).toEqual([0, 'connection lost'])
      else if (typeof answer === 'object') expect([status, error]).toEqual([302, 'redirects are not followed'])
      else expect([status, error, response]).toEqual([answer, '', answer === 204 ? '' : `answer ${answer}`])
      const nextStart = ofDelivery[i + 1]?.started
      if (nextStart !== undefined) expect(nextStart).toBeGreaterThanOrEqual(next ?? Number.POSITIVE_INFINITY)
    }
  }
  expect(late).toBeLessThan(DELIVERIES / 2)
  expect(failed).toBeGreaterThanOrEqual(DELIVERIES / 20)
  const bodies = byDelivery(receiver.received)
  for (const hooks of bodies.values()) expect(new Set(hooks.map(({ body }) => body)).size).toBe(1)
  console.log(
    `${DELIVERIES} deliveries, ${attempts.length} attempts, ${failed} failed for good, ${late} with an answer too late (FAULT_SEED=${SEED})`,
  )
})

test('the next process resumes pending deliveries: none is sent twice, and none before it is due', async ({
  clickhouse,
}) => {
  const receiver = await startReceiver((_, times) => (times === 1 ? 500 : 200))
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/') })
  await addDeliveries(
    clickhouse,
    Array.from({ length: 50 }, (_, i) => madeUpDelivery(i, 'wh_1')),
  )
  const HOUR = [3600]
  const first = startDispatcher(clickhouse, { delaysSeconds: HOUR, instance: 'first' })
  await eventually('first attempts', 120, async () => (await storedAttempts(clickhouse)).length === 50)
  await first.stop()
  const second = startDispatcher(clickhouse, { instance: 'second' })
  await addDeliveries(clickhouse, [madeUpDelivery(50, 'wh_1')])
  await eventually('a new one', 120, async () => (await storedAttempts(clickhouse)).length === 51)
  await eventually('it is noted', 120, () => second.dispatcher.size.unrecorded === 0)
  expect(second.dispatcher.size).toEqual({ later: 51, due: 0, inFlight: 0, unrecorded: 0 })
  await second.stop()
  // An hour passes.
  await clickhouse.command({
    query: `ALTER TABLE webhook_attempts UPDATE next_attempt_at = next_attempt_at - INTERVAL 1 HOUR WHERE 1 SETTINGS mutations_sync = 1`,
  })
  const third = startDispatcher(clickhouse, { instance: 'third' })
  await deliveriesOver(clickhouse, 51)
  await third.stop()
  await receiver.close()
  const ids = await deliveryIds(clickhouse, 'wh_1')
  expect(
    (await storedAttempts(clickhouse)).map(({ delivery_id, attempt, outcome }) => [delivery_id, attempt, outcome]),
  ).toEqual(
    ids.flatMap((id) => [
      [id, 1, 'failure'],
      [id, 2, 'success'],
    ]),
  )
  expect(receiver.received).toHaveLength(102)
})

test('while nobody subscribes the database is asked at most once a second, and the first subscription has its event', async ({
  clickhouse,
}) => {
  const receiver = await startReceiver(() => 200)
  const event = (i: number) => madeUpEvent(i, { occurred_at: new Date(Math.floor(Date.now() / 1000) * 1000) })
  let asked = 0
  observeQueries(clickhouse, (name) => void (name === 'webhook_news' && asked++))
  const { stop } = startDispatcher(clickhouse)
  await eventually('it has begun', 30, () => asked > 0)
  await addEvents(clickhouse, [event(1)])
  const before = { asked, at: performance.now() }
  await sleep(4000)
  const seconds = (performance.now() - before.at) / 1000
  // One of them may have been under way at each end.
  expect(asked - before.asked).toBeLessThanOrEqual(seconds + 2)
  await eventually('it asks again', 30, () => asked > before.asked)

  await addWebhookSubscription(clickhouse, { id: 'wh_first', url: receiver.url('/first'), after_sequence: 1 })
  await addEvents(clickhouse, [event(2)])
  await eventually('its event has come', 60, () => receiver.received.length > 0)
  await stop()
  await receiver.close()
  expect(receiver.received.map(({ body }) => JSON.parse(body).event_id)).toEqual([madeUpEvent(2).id])
})
