import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { webhookBody } from '../../../../clickhouse/webhooks/body.js'
import { addDeliveries, eventsToReplay } from '../../../../clickhouse/webhooks/deliveries.js'
import { addDigest, digestedEvents, type Held, heldAndDigests } from '../../../../clickhouse/webhooks/digests.js'
import { changeSubscription, type Subscription } from '../../../../clickhouse/webhooks/subscriptions.js'
import { pendingTotal, subscriptionHealth } from '../../../../clickhouse/webhooks/totals.js'
import { addEvents, madeUpEvent, storedEvents } from '../../../support/events.js'
import { until } from '../../../support/jobs/process.js'
import { startWebhooks } from '../../../support/jobs/webhook-processes.js'
import { type ReceivedHook, startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import { eventually, madeUpDelivery, startDispatcher, storedAttempts } from '../../../support/webhooks.js'

/** Quiet at every minute of a day but one, which is hours away. */
function quietNow(critical_passes: boolean) {
  const hour = (new Date().getUTCHours() + 12) % 24
  const clock = (minute: string): string => `${String(hour).padStart(2, '0')}:${minute}`
  return { quiet_from: clock('01'), quiet_to: clock('00'), quiet_zone: 'UTC', critical_passes }
}
const LOUD = { quiet_from: '', quiet_to: '', quiet_zone: '', critical_passes: false, digest_minutes: 0 }

const setHolding = (clickhouse: ClickHouseClient, id: string, changes: Partial<Subscription>) =>
  changeSubscription(clickhouse, id, (newest) => ({ ...newest, ...changes, changed_at: new Date() }))

async function storedRows(clickhouse: ClickHouseClient) {
  return heldAndDigests(clickhouse, { from: 0, until: Number.MAX_SAFE_INTEGER, limit: 100_000 })
}
const countOf = async (clickhouse: ClickHouseClient, kind: 'held' | 'digest'): Promise<number> =>
  (await storedRows(clickhouse)).filter((row) => row.kind === kind).length

const dispatchedEvents = (count: number, from = 0, severity = (i: number) => (i % 10 === 3 ? 'severe' : 'mild')) =>
  Array.from({ length: count }, (_, i) =>
    madeUpEvent(from + i, { occurred_at: new Date(), data: { made_up: from + i, severity: severity(from + i) } }),
  )

type Message = { delivery_id: number; event: string; event_id: string; data: Record<string, unknown> }

/** The events of a message: one, or those of a digest. */
function eventsOf({ body }: Pick<ReceivedHook, 'body'>): { event_id: string; bytes: string }[] {
  const message = JSON.parse(body) as Message
  if (message.event !== 'digest') return [{ event_id: message.event_id, bytes: body }]
  return (message.data.events as Message[]).map((one) => ({ event_id: one.event_id, bytes: JSON.stringify(one) }))
}

/** The bodies that were received, once each. Fails if two attempts of a delivery differ. */
function messagesOf(received: readonly ReceivedHook[]): Map<number, ReceivedHook> {
  const messages = new Map<number, ReceivedHook>()
  for (const hook of received) {
    expect(messages.get(hook.delivery_id)?.body ?? hook.body).toBe(hook.body)
    messages.set(hook.delivery_id, hook)
  }
  return messages
}

test('kill -9 between holding, flushing and sending: every event arrives once, alone or in one digest, in order', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  let isDown = false
  const receiver = await startReceiver(async () => {
    if (isDown) return 'hang'
    await sleep(5)
    return 200
  })
  const { id } = await addWebhookSubscription(clickhouse, {
    id: 'wh_night',
    url: receiver.url('/night'),
    ...quietNow(true),
  })
  const env = { WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT: '1' }
  const heldOf = (events: number) => events - Math.floor((events + 6) / 10)

  // Killed while it holds.
  await addEvents(clickhouse, dispatchedEvents(450))
  let jobs = startWebhooks(clickhouseEnv, env)
  await until('some are held', async () => (await countOf(clickhouse, 'held')) > 0, [jobs])
  await jobs.kill('SIGKILL')
  jobs = startWebhooks(clickhouseEnv, env)
  await until('all are held', async () => (await countOf(clickhouse, 'held')) === heldOf(450), [jobs])
  await until('what is critical is sent', () => messagesOf(receiver.received).size === 45, [jobs])
  expect(await countOf(clickhouse, 'digest')).toBe(0)
  await jobs.kill('SIGKILL')

  // Morning: killed while it stores digests, and while it sends the first of them.
  await setHolding(clickhouse, id, LOUD)
  isDown = true
  jobs = startWebhooks(clickhouseEnv, env)
  await until('a digest is stored', async () => (await countOf(clickhouse, 'digest')) > 0, [jobs])
  await jobs.kill('SIGKILL')
  jobs = startWebhooks(clickhouseEnv, env)
  await until('a digest is being sent', () => messagesOf(receiver.received).size > 45, [jobs])
  await jobs.kill('SIGKILL')
  isDown = false

  // More of them, of the next night, beside what is left of the first.
  await setHolding(clickhouse, id, quietNow(true))
  await addEvents(clickhouse, dispatchedEvents(60, 450))
  jobs = startWebhooks(clickhouseEnv, env)
  await until('they are held', async () => (await countOf(clickhouse, 'held')) === heldOf(510), [jobs])
  await setHolding(clickhouse, id, LOUD)
  const receivedIds = () =>
    new Set([...messagesOf(receiver.received).values()].flatMap(eventsOf).map((e) => e.event_id))
  await until('all have arrived', () => receivedIds().size === 510, [jobs])
  await addEvents(
    clickhouse,
    dispatchedEvents(1, 510, () => 'mild'),
  )
  await until('the next is sent alone', () => receivedIds().size === 511, [jobs])
  await jobs.kill('SIGTERM')
  await receiver.close()

  const events = await storedEvents(clickhouse)
  const rows = new Map(events.map((event) => [event.id, event]))
  const messages = [...messagesOf(receiver.received).values()]
  const arrived = messages.flatMap(eventsOf)
  expect(arrived.map(({ event_id }) => event_id).toSorted()).toEqual(events.map((event) => event.id).toSorted())
  const sizes: number[] = []
  let last = 0
  for (const message of messages.toSorted((a, b) => a.delivery_id - b.delivery_id)) {
    const own = eventsOf(message)
    // Byte for byte as it would have been alone.
    for (const { event_id, bytes } of own) {
      const { delivery_id } = JSON.parse(bytes) as Message
      const { type, data, recorded_at } = rows.get(event_id) as (typeof events)[number]
      const content = { event_type: type, event_id, data: JSON.stringify(data), published_at: recorded_at }
      expect(bytes).toBe(webhookBody(delivery_id, content))
      expect(message.body).toContain(bytes)
    }
    if ((JSON.parse(message.body) as Message).event !== 'digest') continue
    expect(message.headers['x-service-event']).toBe('digest')
    sizes.push(own.length)
    for (const { event_id } of own) {
      const sequence = rows.get(event_id)?.sequence ?? 0
      expect(sequence).toBeGreaterThan(last)
      expect(rows.get(event_id)?.data.severity).toBe('mild')
      last = sequence
    }
  }
  expect(Math.max(...sizes)).toBe(200)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(heldOf(510))
}, 240_000)

test('two processes that flush at once store one digest; what one had more is in the next', async ({ clickhouse }) => {
  await addWebhookSubscription(clickhouse, { id: 'wh_1' })
  const deliveries = Array.from({ length: 7 }, (_, i) => madeUpDelivery(i + 1, 'wh_1', { kind: 'held' }))
  await addDeliveries(clickhouse, deliveries)
  const held: Held[] = await storedRows(clickhouse)
  const now = new Date()
  const covers = async (): Promise<number[]> =>
    (await storedRows(clickhouse)).filter(({ kind }) => kind === 'digest').map((digest) => digest.event_sequence)
  await addDigest(clickhouse, held.slice(0, 2), now)
  // One that comes late with more events, and has not seen what is stored.
  await addDigest(clickhouse, held, new Date(now.getTime() + 5000))
  expect(await covers()).toEqual([2])
  await Promise.all([
    addDigest(clickhouse, held.slice(2, 5), now),
    addDigest(clickhouse, held.slice(2), now),
    addDigest(clickhouse, held.slice(2, 6), now),
  ])
  const [, covered = 0, ...more] = await covers()
  expect(more).toEqual([])
  const { dispatcher, stop } = startDispatcher(clickhouse)
  expect([5, 6, 7]).toContain(covered)
  await eventually('the rest is in a digest', 20, async () => {
    return (await covers()).at(-1) === 7
  })
  await stop()
  expect(dispatcher.size.inFlight).toBe(0)
  expect(await covers()).toEqual(covered === 7 ? [2, 7] : [2, covered, 7])
})

test('held events are not pending, and the digest of a disabled or deleted subscription is canceled', async ({
  clickhouse,
}) => {
  const receiver = await startReceiver(() => 200)
  for (const id of ['wh_disabled', 'wh_deleted'])
    await addWebhookSubscription(clickhouse, { id, url: receiver.url(`/${id}`), digest_minutes: 1440 })
  await addEvents(clickhouse, dispatchedEvents(5))
  let running = startDispatcher(clickhouse)
  await eventually('all are held', 20, async () => (await countOf(clickhouse, 'held')) === 10)
  await setHolding(clickhouse, 'wh_deleted', { state: 'deleted' })
  await eventually('one is canceled', 20, async () => (await storedAttempts(clickhouse)).length === 1)
  expect(await pendingTotal(clickhouse)).toBe(0)
  const asked = { subscription_id: 'wh_disabled', changed_at: new Date(0), now: new Date() }
  expect((await subscriptionHealth(clickhouse, asked)).pending).toBe(0)
  await running.stop()
  await setHolding(clickhouse, 'wh_disabled', { state: 'disabled', digest_minutes: 0 })
  running = startDispatcher(clickhouse)
  await eventually('the other is canceled', 20, async () => (await storedAttempts(clickhouse)).length === 2)
  await running.stop()
  await receiver.close()
  expect(receiver.received).toEqual([])
  expect((await storedAttempts(clickhouse)).map(({ outcome }) => outcome)).toEqual(['canceled', 'canceled'])
  expect(await countOf(clickhouse, 'digest')).toBe(2)
})

test('a replay of what was not delivered takes held events by the state of their digest', async ({ clickhouse }) => {
  let status = 500
  const receiver = await startReceiver(() => status)
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/1'), digest_minutes: 1440 })
  await addEvents(clickhouse, dispatchedEvents(3))
  const missed = async (): Promise<number> => {
    const found = await eventsToReplay(clickhouse, {
      since: new Date(0),
      before: new Date('2100-01-01'),
      types: ['peg_break.started'],
      stables: [],
      undelivered_to: 'wh_1',
      cause: 'a test',
      limit: 100,
    })
    return found.length
  }
  const { stop } = startDispatcher(clickhouse, { delaysSeconds: [] })
  const attempts = async () => (await storedAttempts(clickhouse)).map(({ outcome }) => outcome)
  expect(await missed()).toBe(3)
  await eventually('all are held', 20, async () => (await countOf(clickhouse, 'held')) === 3)
  expect(await missed()).toBe(0)
  await setHolding(clickhouse, 'wh_1', { digest_minutes: 0 })
  await eventually('the digest has failed', 20, async () => (await attempts()).length === 1)
  expect(await missed()).toBe(3)
  status = 200
  await setHolding(clickhouse, 'wh_1', { digest_minutes: 1440 })
  await addEvents(clickhouse, dispatchedEvents(2, 3))
  await eventually('two more are held', 20, async () => (await countOf(clickhouse, 'held')) === 5)
  expect(await missed()).toBe(3)
  await setHolding(clickhouse, 'wh_1', { digest_minutes: 0 })
  await eventually('their digest has arrived', 20, async () => (await attempts()).length === 2)
  expect(await missed()).toBe(3)
  // The failed digest itself is sent again.
  const [failed] = receiver.received
  const { event_id, data } = JSON.parse(failed?.body ?? '') as Message
  const replay = { kind: 'replay', event_type: 'digest', event_id, data, cause: 'asked', event_sequence: 3 } as const
  await addDeliveries(clickhouse, [madeUpDelivery(3, 'wh_1', replay)])
  expect(await missed()).toBe(0)
  await eventually('it has arrived', 20, async () => (await attempts()).length === 3)
  expect(await missed()).toBe(0)
  await stop()
  await receiver.close()
  const again = JSON.parse(receiver.received[2]?.body ?? '') as Message
  expect(again.data).toEqual(data)
  expect(digestedEvents({ event_type: again.event, data: JSON.stringify(again.data) })).toHaveLength(3)
})
