import { expect } from 'vitest'
import type { EventType } from '../../../../clickhouse/events/types.js'
import { addDeliveries, type NewDelivery } from '../../../../clickhouse/webhooks/deliveries.js'
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

const SHORT = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3]
type Data = Record<string, unknown>

const startedAt = (incident: number): string => new Date(1_760_000_000_000 + incident * 60_000).toISOString()
const span = (incident: number): Data => ({
  stable: `0x20c1${'0'.repeat(36)}`,
  started_at: startedAt(incident),
  started_block: incident,
})
const retractionOf = (retracted_event: EventType, original: Data): Data => ({
  retracts: 'evt_x',
  retracted_event,
  reason: 'not_found',
  stables: [],
  original,
})

/** The events about an incident, in the order of the log. */
const KINDS: Record<string, (incident: number) => [EventType, Data][]> = {
  break: (i) => [
    ['peg_break.started', { ...span(i), severity: 'severe' }],
    ['peg_break.ended', { ...span(i), severity: 'severe', ended_at: startedAt(i + 1) }],
  ],
  agreed: (i) => [
    ['agreed_break.started', { ...span(i), severity: 'mild' }],
    ['agreed_break.ended', { ...span(i), severity: 'mild', ended_at: startedAt(i + 1) }],
  ],
  quote: (i) => [
    ['peg_quote.lost', { ...span(i), status: 'paused' }],
    ['peg_quote.back', { ...span(i), status: 'paused', ended_at: startedAt(i + 1) }],
  ],
  anomaly: (i) => {
    const data = { from_token: '0xa', to_token: '0xb', window_start: startedAt(i) }
    return [
      ['flow_anomaly.detected', data],
      ['event.retracted', retractionOf('flow_anomaly.detected', data)],
    ]
  },
  retraction: (i) => [
    ['peg_break.started', { ...span(i), severity: 'mild' }],
    ['event.retracted', retractionOf('peg_break.started', { ...span(i), severity: 'mild' })],
  ],
  health: (i) =>
    ['behind', 'ok', 'behind', 'ok'].map((status) => [
      'system.health_drift',
      { component: `job:${i}`, status, detected_at: startedAt(i) },
    ]),
}

/** Three incidents of each kind. */
const deliveriesTo = (id: string): NewDelivery[] =>
  Object.keys(KINDS)
    .flatMap((kind, k) => [1, 2, 3].flatMap((i) => KINDS[kind]?.(1000 * k + i) ?? []))
    .map(([event_type, data], n) => madeUpDelivery(n, id, { event_type, data }))

/** What a delivery is about, in other words than the service has for it. */
function subjectOf({ event_type, data }: NewDelivery): string {
  const about = (data.original ?? data) as Data
  const type = String(data.retracted_event ?? event_type)
  return `${type.split('.')[0]} ${about.component ?? about.started_at ?? about.window_start}`
}

/** For each delivery, those before it about the same. */
const earlierOf = (wanted: readonly NewDelivery[], n: number): number[] =>
  wanted.flatMap((one, i) => (i < n && subjectOf(one) === subjectOf(wanted[n] as NewDelivery) ? [i] : []))

test.for(['plumbline', 'alertmanager', 'slack', 'cloudevents'] as const)(
  'in the format %s nothing overtakes what came before about the same incident, although attempts fail',
  async (format, { clickhouse }) => {
    const accepted: number[] = []
    const receiver = await startReceiver(({ delivery_id }, times) => {
      // Every second one would come at once, and the others after two more attempts.
      if (delivery_id % 2 === 1 && times < 3) return 503
      accepted.push(delivery_id)
      return 200
    })
    await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/1'), format })
    const wanted = deliveriesTo('wh_1')
    const ids = await addDeliveries(clickhouse, wanted)
    const first = startDispatcher(clickhouse, { delaysSeconds: SHORT })
    await deliveriesOver(clickhouse, wanted.length / 4, 60)
    await first.stop()
    // The next process keeps the order.
    const second = startDispatcher(clickhouse, { delaysSeconds: SHORT })
    await deliveriesOver(clickhouse, wanted.length, 60)
    await second.stop()
    await receiver.close()

    expect(accepted.toSorted((a, b) => a - b)).toEqual(ids)
    const place = (n: number): number => accepted.indexOf(ids[n] as number)
    for (const n of wanted.keys())
      for (const earlier of earlierOf(wanted, n)) expect(place(earlier)).toBeLessThan(place(n))
  },
)

test('a delivery that is never taken delays only its own incident, and that until it is given up', async ({
  clickhouse,
}) => {
  const received: number[] = []
  const receiver = await startReceiver(({ delivery_id }) => {
    received.push(delivery_id)
    return delivery_id === 1 ? 500 : 200
  })
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/1') })
  const wanted = deliveriesTo('wh_1')
  await addDeliveries(clickhouse, wanted)
  const { stop } = startDispatcher(clickhouse, { delaysSeconds: SHORT })
  await deliveriesOver(clickhouse, wanted.length, 60)
  await stop()
  await receiver.close()
  expect(received.filter((id) => id === 1)).toHaveLength(7)
  // Its end comes last of all, after all other incidents.
  expect(received.at(-1)).toBe(2)
  expect(received.at(-2)).toBe(1)
})

test('a replay keeps its own order, and does not wait for what failed before; a test waits for nothing', async ({
  clickhouse,
}) => {
  const accepted: number[] = []
  let isAway = true
  const receiver = await startReceiver(({ delivery_id }, times) => {
    if (isAway || (delivery_id === 3 && times === 1)) return 503
    accepted.push(delivery_id)
    return 200
  })
  await addWebhookSubscription(clickhouse, { id: 'wh_1', url: receiver.url('/1') })
  const [start, end] = deliveriesTo('wh_1') as [NewDelivery, NewDelivery]
  await addDeliveries(clickhouse, [start, end])
  const { stop } = startDispatcher(clickhouse, { delaysSeconds: [0.5, 3600] })
  await eventually('the start has failed twice', 60, async () => (await storedAttempts(clickhouse)).length === 2)
  isAway = false
  const again = { kind: 'replay', cause: 'request:1' } as const
  await addDeliveries(clickhouse, [
    { ...start, ...again },
    { ...end, ...again },
    { ...start, kind: 'test', cause: 'request:2' },
    { ...end, kind: 'test', cause: 'request:3' },
  ])
  await deliveriesOver(clickhouse, 4, 60)
  await stop()
  await receiver.close()
  expect(accepted.indexOf(3)).toBeLessThan(accepted.indexOf(4))
  expect(accepted.toSorted()).toEqual([3, 4, 5, 6])
})
