import { pino } from 'pino'
import { expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { changeSubscription } from '../../../../clickhouse/webhooks/subscriptions.js'
import { type IpNetwork, parseIpNetwork } from '../../../../process/ip-networks.js'
import { ADMIN_KEY, WEBHOOK_TERMS } from '../../../support/app.js'
import { addEvents, madeUpEvent, storedEvents } from '../../../support/events.js'
import { isSigned, type ReceivedHook, startReceiver } from '../../../support/receiver.js'
import { test } from '../../../support/services.js'
import { ask, make, makeBody, WEBHOOKS } from '../../../support/webhook-requests.js'
import { eventually, startDispatcher } from '../../../support/webhooks.js'

type Shown = { delivery_id: number; state: string; next_attempt_at: string | null; attempts: unknown[] }

test('the admin’s changes determine what a receiver gets and how it is signed', async ({ clickhouse }) => {
  const receiver = await startReceiver(({ path }) => (path === '/fails' ? 500 : 200))
  const app = await buildApp({
    clickhouse,
    now: () => new Date(),
    adminKey: ADMIN_KEY,
    webhooks: { ...WEBHOOK_TERMS, targets: { networks: [parseIpNetwork('127.0.0.0/8') as IpNetwork], ports: 'any' } },
    logger: pino({ level: 'silent' }),
  })
  const { stop } = startDispatcher(clickhouse)
  const happen = (i: number) => addEvents(clickhouse, [madeUpEvent(i, { occurred_at: new Date() })])
  const eventId = (i: number): string => madeUpEvent(i).id
  const own = () => receiver.received.filter(({ path }) => path !== '/witness')
  const received = async (count: number): Promise<ReceivedHook> => {
    await eventually(`${count} posts`, 240, () => own().length >= count)
    expect(own()).toHaveLength(count)
    return own()[count - 1] as ReceivedHook
  }
  /** Once one subscription has received an event, it has been sent to all that want it. */
  const isSent = (i: number) =>
    eventually(`event ${i} sent`, 240, () =>
      receiver.received.some((hook) => hook.path === '/witness' && idOf(hook) === eventId(i)),
    )
  const idOf = ({ body }: ReceivedHook): string => JSON.parse(body).event_id
  await happen(1)

  const { id, secret } = await make(app, makeBody({ url: receiver.url('/old') }))
  await make(app, makeBody({ url: receiver.url('/witness') }))
  const url = `${WEBHOOKS}/${id}`
  const post = async (place: string, payload?: object) => (await ask(app, 'POST', `${url}${place}`, payload)).json()
  const deliveries = async (): Promise<Shown[]> => (await ask(app, 'GET', `${url}/deliveries`)).json().deliveries
  const isOver = (number: number) =>
    eventually(`delivery ${number} over`, 240, async () =>
      (await deliveries()).some(({ delivery_id, state }) => delivery_id === number && state !== 'pending'),
    )

  // A test event, before any other.
  const tried = await post('/test', { event_type: 'flow_anomaly.detected' })
  const first = await received(1)
  expect(first.delivery_id).toBe(tried.delivery_id)
  expect(first.path).toBe('/old')
  // It has the fields of an event, so that a receiver that needs one of them can be tested.
  const published_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect(JSON.parse(first.body)).toMatchObject({
    event: 'flow_anomaly.detected',
    event_id: tried.event_id,
    published_at,
  })
  expect(isSigned(first, secret)).toBe(true)
  await isOver(tried.delivery_id)

  // After a rotation both secrets sign; once the old one expires, only the new one does.
  const rotated = await post('/rotate-secret')
  await happen(2)
  const both = await received(2)
  expect(idOf(both)).toBe(eventId(2))
  expect([isSigned(both, rotated.secret), isSigned(both, secret)]).toEqual([true, true])
  await changeSubscription(clickhouse, id, (newest) => ({ ...newest, previous_secret_until: new Date() }))
  await ask(app, 'PATCH', url, { url: receiver.url('/new') })
  await happen(3)
  const alone = await received(3)
  expect([alone.path, idOf(alone)]).toEqual(['/new', eventId(3)])
  expect([isSigned(alone, rotated.secret), isSigned(alone, secret)]).toEqual([true, false])

  // While it is disabled nothing is sent, and missed events can be sent later.
  await post('/disable')
  await happen(4)
  await happen(5)
  await isSent(5)
  await post('/enable')
  await happen(6)
  await received(4)
  expect(own().slice(1).map(idOf)).toEqual([2, 3, 6].map(eventId))
  for (const { delivery_id } of own()) await isOver(delivery_id)
  // Event 1 is older than the subscription; 4 and 5 occurred while it was disabled.
  expect(await post('/replay', { since: '1h', only_undelivered: true })).toEqual({ deliveries: 3 })
  await received(7)
  expect(own().slice(4).map(idOf).sort()).toEqual([1, 4, 5].map(eventId))
  // Whenever it is sent, an event was published when it was recorded.
  const recorded = new Map((await storedEvents(clickhouse)).map((event) => [event.id, event.recorded_at.toISOString()]))
  for (const hook of own().slice(1)) expect(JSON.parse(hook.body).published_at).toBe(recorded.get(idOf(hook)))
  const again = await post(`/deliveries/${both.delivery_id}/replay`)
  const repeated = await received(8)
  expect(repeated.delivery_id).toBe(again.delivery_id)
  expect(repeated.delivery_id).not.toBe(both.delivery_id)
  expect(JSON.parse(repeated.body)).toEqual({ ...JSON.parse(both.body), delivery_id: repeated.delivery_id })

  // A failure shows when it will be retried; deliveries pending at the deletion are not sent any more.
  await ask(app, 'PATCH', url, { url: receiver.url('/fails') })
  await happen(7)
  const failed = await received(9)
  await eventually('a failed attempt', 240, async () => (await deliveries())[0]?.attempts.length === 1)
  const [pending] = await deliveries()
  expect(pending).toMatchObject({
    delivery_id: failed.delivery_id,
    state: 'pending',
    attempts: [{ attempt: 1, outcome: 'failure', status: 500, response: 'answer 500' }],
  })
  const waits = Date.parse(pending?.next_attempt_at ?? '') - Date.now()
  expect(waits).toBeLessThan(31_500)
  await ask(app, 'DELETE', url)
  await isOver(failed.delivery_id)
  expect((await deliveries())[0]).toMatchObject({ state: 'canceled', next_attempt_at: null })
  await happen(8)
  await isSent(8)
  await stop()
  expect(own()).toHaveLength(9)
  await receiver.close()
  await app.close()
})
