import { pino } from 'pino'
import { expect, onTestFinished, vi } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import type { FoundEvent } from '../../../../clickhouse/events/types.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { addEvents, madeUpEvent, storedEvents } from '../../../support/events.js'
import { until } from '../../../support/jobs/process.js'
import { startWebhooks } from '../../../support/jobs/webhook-processes.js'
import { addRollback } from '../../../support/ledger.js'
import { isSigned, type ReceivedHook, startReceiver } from '../../../support/receiver.js'
import { repairedViews } from '../../../support/repair-views.js'
import { pegSamples, stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { eventIds, listening, openStream, PATIENCE } from '../../../support/stream.js'
import { addWebhookSubscription } from '../../../support/webhook-subscriptions.js'
import { SECRET } from '../../../support/webhooks.js'
import { addMarket } from '../../../support/wild-market.js'

const STABLE = stableAddress(1)
const BLOCK_SECONDS = 20
const BLOCKS = 90
/** The blocks of a break of ten minutes, and the last block that a reorganization keeps. */
const [OFF, BACK, KEPT] = [30, 60, 20]

const JOBS = { JOBS: 'peg-events,webhooks', JOBS_LEASE_SECONDS: '3' }

type Delivery = { event: string; event_id: string; data: { retracts?: string; stable?: string } }
const bodyOf = ({ body }: ReceivedHook): Delivery => JSON.parse(body)

test('a break that was announced and did not happen is taken back at its receiver, once each, also after kill -9', {
  timeout: 600_000,
}, async ({ clickhouse, clickhouseEnv }) => {
  const receiver = await startReceiver(() => 200)
  onTestFinished(receiver.close)
  const types = ['peg_break.started', 'peg_break.ended'] as const
  const subscribe = (path: string, given: object) =>
    addWebhookSubscription(clickhouse, { id: `wh_${path.slice(1)}`, url: receiver.url(path), ...given })
  await subscribe('/told', { event_types: types, stable_filter: [STABLE] })
  await subscribe('/starts', { event_types: ['peg_break.started'] })
  await subscribe('/other-stable', { event_types: types, stable_filter: [stableAddress(2)] })
  await subscribe('/other-type', { event_types: ['flow_anomaly.detected', 'system.health_drift'] })
  const at = (path: string): Delivery[] => receiver.received.filter((hook) => hook.path === path).map(bodyOf)

  const app = await buildApp({
    clickhouse,
    now: () => new Date(),
    streams: { intervalMs: 20 },
    logger: pino({ level: 'silent' }),
  })
  onTestFinished(() => app.close())
  const filter = `types=${types}&stable=${STABLE}`
  const streamUrl = `${await listening(app)}?${filter}`

  const start = (Math.floor(Date.now() / 120_000) - 30) * 120 + 10
  const times = Array.from({ length: BLOCKS }, (_, i) => start + i * BLOCK_SECONDS)
  const samplesFrom = (block: number, isOff: (block: number) => boolean) =>
    pegSamples(
      STABLE,
      times.slice(block - 1).map((time, i) => ({ at: time, price: isOff(block + i) ? 1_003_000 : 1_000_000 })),
      block,
    )
  await addMarket(
    clickhouse,
    samplesFrom(1, (block) => block >= OFF && block < BACK),
    times,
  )
  const stream = await openStream(streamUrl)

  const first = startWebhooks(clickhouseEnv, JOBS)
  await until('the break is announced', () => at('/told').length === 2 && at('/starts').length === 1, [first])
  await first.kill('SIGTERM')
  const announced = await storedEvents(clickhouse)
  expect(announced.map(({ type }) => type)).toEqual(types)
  await vi.waitFor(() => expect(eventIds(stream)).toEqual(announced.map(({ id }) => id)), PATIENCE)

  // The chain is reorganized: the price was never off.
  const keptTime = times[KEPT - 1] as number
  await removeFacts(clickhouse, { from_block: KEPT + 1, from_time: keptTime })
  await repairedViews(clickhouse)
  await addMarket(
    clickhouse,
    samplesFrom(KEPT + 1, () => false),
    times.slice(KEPT),
    KEPT + 1,
  )
  await addRollback(clickhouse, 1, keptTime)

  // Killed when the retractions are in the log and no delivery of them is stored.
  const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
  relay.hold('insert_webhook_deliveries')
  const second = startWebhooks({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url }, JOBS)
  await until(
    'both are taken back and deliveries are about to be stored',
    async () => relay.asked('insert_webhook_deliveries') && (await storedEvents(clickhouse)).length >= 4,
    [second],
  )
  await second.kill('SIGKILL')
  await relay.close()
  const events = await storedEvents(clickhouse)
  expect(events.map(({ type, data }) => [type, data.retracts])).toEqual([
    ...types.map((type) => [type, undefined]),
    ...announced.map(({ id }) => ['event.retracted', id]),
  ])
  expect(at('/told')).toHaveLength(2)

  const third = startWebhooks(clickhouseEnv, JOBS)
  onTestFinished(() => third.kill('SIGTERM'))
  await until('the break is taken back', () => at('/told').length >= 4 && at('/starts').length >= 2, [third])
  // When a later event has arrived everywhere, nothing is left to arrive.
  const [witness, other] = [1, 2].map((i) => {
    const [occurred_at, stable] = [new Date(), stableAddress(i)]
    return madeUpEvent(i, { occurred_at, stables: [stable], data: { ...events[0]?.data, stable } })
  }) as [FoundEvent, FoundEvent]
  const health = madeUpEvent(3, { occurred_at: new Date(), type: 'system.health_drift', data: {} })
  await addEvents(clickhouse, [witness, other, health])
  const isAt = (path: string, { id }: { id: string }) => at(path).some(({ event_id }) => event_id === id)
  await until(
    'the later events arrive',
    () =>
      isAt('/told', witness) &&
      isAt('/starts', witness) &&
      isAt('/starts', other) &&
      isAt('/other-stable', other) &&
      isAt('/other-type', health),
    [third],
  )

  const [started, ended, ...retractions] = events
  expect(at('/told').map(({ event_id }) => event_id)).toEqual([...events, witness].map(({ id }) => id))
  expect(new Set(at('/starts').map(({ event_id }) => event_id))).toEqual(
    new Set([started?.id, retractions[0]?.id, witness.id, other.id]),
  )
  expect(at('/starts').slice(0, 2)).toMatchObject([
    { event: 'peg_break.started', event_id: started?.id },
    { event: 'event.retracted', data: { retracts: started?.id } },
  ])
  expect(at('/starts')).toHaveLength(4)
  expect(at('/other-stable').map(({ event_id }) => event_id)).toEqual([other.id])
  expect(at('/other-type').map(({ event_id }) => event_id)).toEqual([health.id])
  for (const hook of receiver.received) expect(isSigned(hook, SECRET)).toBe(true)

  // The retraction says what it takes back and why, and is the same in webhooks, in the list and on the stream.
  const list = (await app.inject(`/api/v1/events?${filter}`)).json().events as { id: string; data: object }[]
  expect(list.map(({ id }) => id)).toEqual([...events, witness].map(({ id }) => id))
  expect(list.slice(0, 4).map(({ data }) => data)).toEqual(
    at('/told')
      .slice(0, 4)
      .map(({ data }) => data),
  )
  expect(at('/told')[3]?.data).toEqual({
    retracts: ended?.id,
    retracted_event: 'peg_break.ended',
    stables: [STABLE],
    occurred_at: new Date((ended?.occurred_at ?? 0) * 1000).toISOString().replace('.000', ''),
    recorded_at: ended?.recorded_at.toISOString(),
    reason: 'not_found',
    original: ended?.data,
  })
  await vi.waitFor(() => expect(eventIds(stream)).toHaveLength(5), PATIENCE)
  const sent = stream.messages.filter(({ event }) => event !== 'ready' && event !== 'peg_sample')
  expect(sent.map(({ data }) => data)).toEqual(list)
  stream.response.destroy()
})
