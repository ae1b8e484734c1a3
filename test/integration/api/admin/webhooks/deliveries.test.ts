import { describe, expect } from 'vitest'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import { addDeliveries } from '../../../../../clickhouse/webhooks/deliveries.js'
import { addDigest, heldAndDigests } from '../../../../../clickhouse/webhooks/digests.js'
import { insertWebhookFanOut } from '../../../../../clickhouse/webhooks/fan-outs.js'
import { ADMIN_KEY, test } from '../../../../support/app.js'
import { addEvents, madeUpEvent } from '../../../../support/events.js'
import { addFacts, stableAddress, stablecoin } from '../../../../support/rows.js'
import { addAttempts, attempt } from '../../../../support/webhook-deliveries.js'
import { ask, make, makeBody, WEBHOOKS } from '../../../../support/webhook-requests.js'
import { addWebhookSubscription } from '../../../../support/webhook-subscriptions.js'
import { madeUpDelivery } from '../../../../support/webhooks.js'

const DAY_MS = 86_400_000

type Shown = { delivery_id: number; state: string; event_id: string; kind: string; event: string }

test('every delivery is listed with its attempts and the time of its next attempt', async ({
  app,
  clickhouse,
  clock,
}) => {
  const { id } = await make(app)
  const { id: otherId } = await make(app)
  const wanted = [1, 2, 3, 4, 5].map((i) => madeUpDelivery(i, id))
  await addDeliveries(clickhouse, [madeUpDelivery(9, otherId), ...wanted, madeUpDelivery(10, otherId)])
  const start = clock.now.getTime()
  const at = (seconds: number) => new Date(start + seconds * 1000)
  const of = { subscription_id: id }
  const bad = { outcome: 'failure', status: 503, response: 'down', duration_ms: 40 } as const
  await addAttempts(clickhouse, [
    // 2: delivered at the second attempt, after a refusal. 3: failed permanently. 4: canceled. 5: waiting for a retry. 6: not attempted
    // yet.
    attempt({ ...of, delivery_id: 2, attempt: 1, started_at: at(-40), ...bad, next_attempt_at: at(-10) }),
    attempt({
      ...of,
      delivery_id: 2,
      attempt: 2,
      started_at: at(-12),
      outcome: 'refused',
      status: 429,
      next_attempt_at: at(-11),
    }),
    attempt({ ...of, delivery_id: 2, attempt: 2, started_at: at(-10) }),
    ...[1, 2, 3, 4, 5, 6, 7].map((nth) =>
      attempt({
        ...of,
        delivery_id: 3,
        attempt: nth,
        started_at: at(-100 + nth),
        ...bad,
        next_attempt_at: nth < 7 ? at(-99 + nth) : null,
      }),
    ),
    attempt({ ...of, delivery_id: 4, attempt: 1, started_at: at(-5), outcome: 'canceled', status: 0, response: '' }),
    attempt({
      ...of,
      delivery_id: 5,
      attempt: 1,
      started_at: at(-30),
      ...bad,
      status: 0,
      error: 'timeout',
      response: '',
      next_attempt_at: at(1.5),
    }),
    attempt({ subscription_id: otherId, delivery_id: 1, attempt: 1, started_at: at(-1) }),
  ])
  const list = async (query = '') => (await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries${query}`)).json()
  const { deliveries, next_cursor } = await list()
  expect(next_cursor).toBeNull()
  expect(deliveries.map(({ delivery_id, state }: Shown) => [delivery_id, state])).toEqual([
    [6, 'pending'],
    [5, 'pending'],
    [4, 'canceled'],
    [3, 'failed'],
    [2, 'successful'],
  ])
  const [never, again, canceled, failed, delivered] = deliveries
  expect(never).toMatchObject({ attempts: [], next_attempt_at: never.created_at })
  expect(again).toEqual({
    delivery_id: 5,
    kind: 'event',
    event: wanted[3]?.event_type,
    event_id: wanted[3]?.event_id,
    state: 'pending',
    digest_delivery_id: null,
    created_at: expect.any(String),
    next_attempt_at: at(1.5).toISOString(),
    refusals: 0,
    attempts: [
      {
        attempt: 1,
        outcome: 'failure',
        status: null,
        error: 'timeout',
        response: '',
        started_at: at(-30).toISOString(),
        duration_ms: 40,
        next_attempt_at: at(1.5).toISOString(),
      },
    ],
  })
  expect(canceled).toMatchObject({ next_attempt_at: null, attempts: [{ outcome: 'canceled', status: null }] })
  expect(failed).toMatchObject({ next_attempt_at: null })
  expect(failed.attempts.map((one: { attempt: number }) => one.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(delivered.refusals).toBe(1)
  expect(delivered.attempts).toMatchObject([
    { attempt: 1, status: 503, error: null, response: 'down', next_attempt_at: at(-10).toISOString() },
    { attempt: 2, outcome: 'success', status: 200, response: 'ok', next_attempt_at: null },
  ])

  const ids = async (query: string) => (await list(query)).deliveries.map(({ delivery_id }: Shown) => delivery_id)
  expect(await ids('?state=pending')).toEqual([6, 5])
  expect(await ids('?state=successful')).toEqual([2])
  expect(await ids('?state=failed')).toEqual([3])
  expect(await ids('?state=canceled')).toEqual([4])
  for (const filter of ['', 'state=pending&']) {
    const all = await ids(`?${filter}`)
    const seen: number[] = []
    for (let query = `?${filter}limit=1`; query !== ''; ) {
      const page = await list(query)
      seen.push(...page.deliveries.map(({ delivery_id }: Shown) => delivery_id))
      query = page.next_cursor === null ? '' : `?${filter}limit=1&cursor=${page.next_cursor}`
    }
    expect(seen).toEqual(all)
  }

  const health = async (one: string) => (await ask(app, 'GET', `${WEBHOOKS}/${one}`)).json().health
  expect(await health(id)).toEqual({
    last_success_at: at(-10).toISOString(),
    failing_since: null,
    attempts_24h: 10,
    successes_24h: 1,
    pending: 2,
  })
  // Completed deliveries need not be read again.
  const [pending, ofHealth] = [await ids('?state=pending'), await health(id)]
  await insertWebhookFanOut(clickhouse, { sequence: 5, settled_before: 5 })
  expect(await ids('?state=pending')).toEqual(pending)
  expect(await ids('?state=successful')).toEqual([2])
  expect(await health(id)).toEqual(ofHealth)
  expect(await health(otherId)).toMatchObject({ pending: 1, attempts_24h: 1, successes_24h: 1 })
  // Another process made the same attempt: if either delivered it, it is delivered.
  await addAttempts(clickhouse, [attempt({ ...of, delivery_id: 3, attempt: 7, started_at: at(-93) })])
  expect(await ids('?state=failed')).toEqual([])
  expect(await ids('?state=successful')).toEqual([3, 2])
  await addAttempts(clickhouse, [
    attempt({ ...of, ...bad, delivery_id: 5, attempt: 2, started_at: at(1), next_attempt_at: at(9) }),
    attempt({ ...of, ...bad, delivery_id: 5, attempt: 3, started_at: at(9), next_attempt_at: at(99) }),
  ])
  clock.now = new Date(clock.now.getTime() + DAY_MS)
  expect(await health(id)).toMatchObject({
    failing_since: at(1).toISOString(),
    attempts_24h: 2,
    successes_24h: 0,
    pending: 2,
  })
  // A change gives it another chance.
  await ask(app, 'PATCH', `${WEBHOOKS}/${id}`, { url: 'https://hooks.example.net/' })
  expect(await health(id)).toMatchObject({ failing_since: null, last_success_at: at(-10).toISOString() })
})

test('a test is a new delivery of an event that does not exist', async ({ app, clickhouse }) => {
  const { id } = await make(app, makeBody({ event_types: ['system.health_drift', 'peg_break.ended'] }))
  const url = `${WEBHOOKS}/${id}/test`
  const first = await ask(app, 'POST', url)
  expect(first.statusCode).toBe(202)
  expect(first.json()).toMatchObject({
    kind: 'test',
    event: 'system.health_drift',
    event_id: expect.stringMatching(/^evt_test_[0-9a-f]{32}$/),
    state: 'pending',
    attempts: [],
  })
  for (const event_type of EVENT_TYPES)
    expect((await ask(app, 'POST', url, { event_type })).json()).toMatchObject({ kind: 'test', event: event_type })
  const { deliveries } = (await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries`)).json()
  expect(deliveries).toHaveLength(1 + EVENT_TYPES.length)
  expect(new Set(deliveries.map((one: Shown) => one.event_id)).size).toBe(deliveries.length)
  expect(deliveries.at(-1)).toEqual(first.json())
  const query = "SELECT count() AS events FROM events WHERE id LIKE 'evt_test_%'"
  expect(await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()).toEqual([{ events: '0' }])

  for (const what of ['test', 'disable', 'enable'])
    for (const payload of ['', '{}']) {
      const json = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
      const empty = await app.inject({ method: 'POST', url: `${WEBHOOKS}/${id}/${what}`, headers: json, payload })
      expect([what, empty.statusCode]).toEqual([what, what === 'test' ? 202 : 200])
    }
  const before = 3 + EVENT_TYPES.length
  const headers = { 'idempotency-key': 'once' }
  const repeats = await Promise.all([1, 2, 3].map(() => ask(app, 'POST', url, {}, headers)))
  expect(new Set(repeats.map(({ json }) => json().delivery_id)).size).toBe(1)
  expect((await ask(app, 'POST', url, { event_type: 'peg_break.ended' }, headers)).json()).toMatchObject({
    status: 422,
    type: 'urn:plumbline:problem:idempotency-key-reused',
  })
  expect((await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries`)).json().deliveries).toHaveLength(1 + before)
  expect((await ask(app, 'POST', url, { event_type: 'peg_break' })).json()).toMatchObject({
    status: 400,
    parameter: 'event_type',
  })
})

test('one delivery can be sent again as another delivery of the same event', async ({ app, clickhouse, clock }) => {
  const { id } = await make(app)
  const { id: otherId } = await make(app)
  const original = madeUpDelivery(7, id)
  await addDeliveries(clickhouse, [original])
  const replay = (of: string, number: number | string, headers = {}) =>
    ask(app, 'POST', `${WEBHOOKS}/${of}/deliveries/${number}/replay`, undefined, headers)
  const first = await replay(id, 1)
  expect(first.statusCode).toBe(202)
  expect(first.json()).toMatchObject({ delivery_id: 2, kind: 'replay', event_id: original.event_id, state: 'pending' })
  const query = 'SELECT event_sequence, event_type, data, published_at FROM webhook_deliveries ORDER BY delivery_id'
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  expect(rows[1]).toEqual(rows[0])
  expect((await replay(id, 2)).json()).toMatchObject({ delivery_id: 3, event_id: original.event_id })
  const headers = { 'idempotency-key': 'once' }
  const repeats = await Promise.all([replay(id, 1, headers), replay(id, 1, headers)])
  expect(repeats.map((response) => response.json().delivery_id)).toEqual([4, 4])
  clock.now = new Date(clock.now.getTime() + 30 * DAY_MS)
  expect((await replay(id, 1, headers)).json()).toMatchObject({ delivery_id: 4 })

  for (const [of, number] of [
    [otherId, 1],
    [id, 99],
    [id, '999999999999999'],
  ] as const)
    expect((await replay(of, number)).json()).toMatchObject({
      status: 404,
      type: 'urn:plumbline:problem:unknown-delivery',
    })
  for (const number of ['x', '1.5', '-1', '1'.repeat(16)])
    expect((await replay(id, number)).json()).toMatchObject({ status: 400, parameter: 'delivery_id' })
  await ask(app, 'POST', `${WEBHOOKS}/${id}/disable`)
  for (const response of [await replay(id, 1), await ask(app, 'POST', `${WEBHOOKS}/${id}/test`, {})])
    expect(response.json()).toMatchObject({ status: 409, type: 'urn:plumbline:problem:webhook-disabled' })
  expect((await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries`)).json().deliveries).toHaveLength(4)
})

describe('all events since a time', () => {
  const [A, B] = [stableAddress(1), stableAddress(2)]

  /** Events 1 to 5 of the log, all recorded just now. */
  const events = [
    madeUpEvent(1, { stables: [A] }),
    madeUpEvent(2, { stables: [B] }),
    madeUpEvent(3, { type: 'flow_anomaly.detected', stables: [A, B] }),
    madeUpEvent(4, { type: 'system.health_drift' }),
    madeUpEvent(5, { stables: [A, B] }),
  ]

  test('are sent again if they match the current subscription, in the order of the log', async ({
    app,
    clickhouse,
    clock,
  }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2)] })
    await addEvents(clickhouse, events)
    // After these events and before the next one, by the clock that records them.
    clock.now = new Date(Date.now() + 1)
    const made = await make(app, makeBody({ stable_filter: [A] }))
    const url = `${WEBHOOKS}/${made.id}`
    const replay = (payload: object, headers = {}) => ask(app, 'POST', `${url}/replay`, payload, headers)
    const sent = async (): Promise<Shown[]> => (await ask(app, 'GET', `${url}/deliveries`)).json().deliveries.reverse()

    const headers = { 'idempotency-key': 'all of it' }
    const answers = await Promise.all([1, 2, 3].map(() => replay({ since: '1h' }, headers)))
    expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual(Array(3).fill([202, '{"deliveries":2}']))
    expect((await sent()).map(({ kind, event_id }) => [kind, event_id])).toEqual([
      ['replay', events[0]?.id],
      ['replay', events[4]?.id],
    ])
    // A repeat adds no events recorded in between.
    clock.now = new Date(clock.now.getTime() + 60_000)
    await addEvents(clickhouse, [madeUpEvent(6, { stables: [A] })])
    expect((await replay({ since: '1h' }, headers)).json()).toEqual({ deliveries: 2 })
    expect(await sent()).toHaveLength(2)
    expect((await replay({ since: '2h' }, headers)).json()).toMatchObject({ status: 422 })

    await ask(app, 'PATCH', url, { stable_filter: null, event_types: [...EVENT_TYPES] })
    const since = Math.floor(clock.now.getTime() / 1000) - 3600
    expect((await replay({ since })).json()).toEqual({ deliveries: 6 })
    expect((await sent()).slice(2).map(({ event_id }) => event_id)).toEqual(
      [...events, madeUpEvent(6)].map(({ id }) => id),
    )
    // Of these breaks nobody knows the severity.
    await ask(app, 'PATCH', url, { severity: 'mild' })
    expect((await replay({ since })).json()).toEqual({ deliveries: 2 })
    // Nor for how many tokens they stand.
    await ask(app, 'PATCH', url, { severity: null, min_size: 1 })
    expect((await replay({ since })).json()).toEqual({ deliveries: 2 })
    // Events 1, 2, 5 and 6 are breaks of unknown severity, 3 an anomaly and 4 of an unknown component of the service.
    const replayed = async (min_severity: string | null) => {
      await ask(app, 'PATCH', url, { min_size: null, min_severity })
      return (await replay({ since })).json()
    }
    expect(await replayed('info')).toEqual({ deliveries: 6 })
    expect(await replayed('warning')).toEqual({ deliveries: 5 })
    expect(await replayed('critical')).toEqual({ deliveries: 0 })
    await ask(app, 'PATCH', url, { min_severity: null })
    // Nothing was recorded since.
    clock.now = new Date(Date.now() + 7_200_000)
    expect((await replay({ since: new Date(Date.now() + 3_600_000).toISOString() })).json()).toEqual({ deliveries: 0 })
    for (const [payload, parameter] of [
      [{}, 'since'],
      [{ since: 'soon' }, 'since'],
      [{ since: Math.ceil(clock.now.getTime() / 1000) + 5 }, 'since'],
      [{ since: -1 }, 'since'],
      [{ since: 1.5 }, 'since'],
      [{ since: '1h', only_undelivered: 'yes' }, 'only_undelivered'],
      [{ since: '1h', until: '1m' }, 'until'],
    ] as const)
      expect((await replay(payload)).json(), JSON.stringify(payload)).toMatchObject({ status: 400, parameter })
  })

  test('or only those that were not delivered and are not pending', async ({ app, clickhouse, clock }) => {
    await addEvents(clickhouse, events)
    clock.now = new Date(Date.now() + 1000)
    const { id } = await make(app, makeBody({ event_types: [...EVENT_TYPES] }))
    const deliveryOf = (i: number) => madeUpDelivery(i, id)
    await addDeliveries(clickhouse, [1, 2, 3, 4].map(deliveryOf))
    const of = { subscription_id: id, started_at: clock.now }
    await addAttempts(clickhouse, [
      attempt({ ...of, delivery_id: 1, attempt: 1 }),
      attempt({ ...of, delivery_id: 2, attempt: 7, outcome: 'failure' }),
      attempt({ ...of, delivery_id: 3, attempt: 1, outcome: 'failure', next_attempt_at: clock.now }),
      attempt({ ...of, delivery_id: 4, attempt: 1, outcome: 'canceled' }),
    ])
    const replay = (payload: object, headers = {}) => ask(app, 'POST', `${WEBHOOKS}/${id}/replay`, payload, headers)
    const payload = { since: '1h', only_undelivered: true }
    const headers = { 'idempotency-key': 'what was lost' }
    for (const _ of [1, 2]) expect((await replay(payload, headers)).json()).toEqual({ deliveries: 3 })
    const { deliveries } = (await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries?limit=3`)).json()
    expect(deliveries.map(({ kind, event_id }: Shown) => [kind, event_id])).toEqual([
      ['replay', events[4]?.id],
      ['replay', events[3]?.id],
      ['replay', events[1]?.id],
    ])
    // Now all of them are pending.
    expect((await replay(payload)).json()).toEqual({ deliveries: 0 })
  })

  test('are refused if there are too many', async ({ app, clickhouse, clock }) => {
    const { id } = await make(app)
    const add = (count: number, first: number) =>
      clickhouse.command({
        query: `
          INSERT INTO events (sequence_number, id, type, subject, stables, data, occurred_at, slot_at, revision)
          SELECT number + ${first}, 'evt_' || toString(number + ${first}), 'peg_break.started', '', [], '{}', now(), now(), 0
          FROM numbers(${count})`,
      })
    const replay = async () => {
      clock.now = new Date(Date.now() + 60_000)
      return (await ask(app, 'POST', `${WEBHOOKS}/${id}/replay`, { since: '1h' })).json()
    }
    await add(10_001, 1)
    expect(await replay()).toMatchObject({ status: 400, parameter: 'since', detail: expect.stringContaining('10000') })
    expect((await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries`)).json().deliveries).toEqual([])
    await clickhouse.command({ query: 'DELETE FROM events WHERE sequence_number = 1' })
    expect(await replay()).toEqual({ deliveries: 10_000 })
    const query = 'SELECT count() AS rows, uniqExact(event_id) AS events FROM webhook_deliveries'
    const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
    expect(rows).toEqual([{ rows: '10000', events: '10000' }])
  })
})

test('held events are listed with the digest that they are in, and can be sent again, as can the digest', async ({
  app,
  clickhouse,
  clock,
}) => {
  const { id } = await make(app, makeBody({ digest_minutes: 60 }))
  const hold = (numbers: number[]) =>
    addDeliveries(
      clickhouse,
      numbers.map((i) => madeUpDelivery(i, id, { kind: 'held' })),
    )
  const waiting = async (from: number) =>
    (await heldAndDigests(clickhouse, { from, until: 100, limit: 100 })).filter(({ kind }) => kind === 'held')
  // Numbers of deliveries: 1 to 3, 4 and 5, the digests 6 and 7, and 8.
  await hold([11, 12, 13])
  await hold([14, 15])
  await addDigest(clickhouse, (await waiting(1)).slice(0, 3), clock.now)
  await addDigest(clickhouse, await waiting(4), clock.now)
  await hold([16])
  type Listed = Shown & { digest_delivery_id: number | null; next_attempt_at: string | null }
  const list = async (query = ''): Promise<Listed[]> =>
    (await ask(app, 'GET', `${WEBHOOKS}/${id}/deliveries${query}`)).json().deliveries
  const digestsOf = async (query: string) => (await list(query)).map((one) => [one.delivery_id, one.digest_delivery_id])
  const all = await list()
  expect(all.map(({ delivery_id, kind, state }) => [delivery_id, kind, state])).toEqual([
    [8, 'held', 'held'],
    [7, 'digest', 'pending'],
    [6, 'digest', 'pending'],
    ...[5, 4, 3, 2, 1].map((held) => [held, 'held', 'held']),
  ])
  expect(all.filter(({ kind }) => kind === 'held').every((one) => one.next_attempt_at === null)).toBe(true)
  const held = [
    [8, null],
    [5, 7],
    [4, 7],
    [3, 6],
    [2, 6],
    [1, 6],
  ]
  expect(await digestsOf('?state=held')).toEqual(held)
  expect(await digestsOf('?state=held&limit=2')).toEqual(held.slice(0, 2))
  expect(await digestsOf('?state=pending')).toEqual([
    [7, null],
    [6, null],
  ])
  const replay = async (delivery_id: number) =>
    (await ask(app, 'POST', `${WEBHOOKS}/${id}/deliveries/${delivery_id}/replay`)).json()
  expect(await replay(2)).toMatchObject({ kind: 'replay', event: 'peg_break.started', event_id: all[6]?.event_id })
  expect(await replay(6)).toMatchObject({
    kind: 'replay',
    event: 'digest',
    event_id: all[2]?.event_id,
    state: 'pending',
  })
})

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
  expect(await lines()).toEqual({
    plumbline_webhook_pending_deliveries: 0,
    plumbline_webhook_dropped_deliveries_total: 0,
  })

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
    // It is over, unlike a refused one.
    attempt({ ...of, ...failure, delivery_id: COUNT, attempt: 2, started_at: before(900), next_attempt_at: null }),
    attempt({
      ...of,
      ...failure,
      outcome: 'refused',
      status: 429,
      delivery_id: COUNT + 2,
      attempt: 2,
      started_at: before(900),
    }),
  ])
  await insertWebhookFanOut(clickhouse, { sequence: 0, settled_before: COUNT - 1 })
  clock.now = new Date(clock.now.getTime() + 10_000)
  expect(await lines()).toEqual({
    'plumbline_webhook_subscriptions{state="enabled"}': 2,
    'plumbline_webhook_subscriptions{state="disabled"}': 1,
    plumbline_webhook_pending_deliveries: 2,
    'plumbline_webhook_attempts_total{outcome="success",status="2xx"}': COUNT,
    'plumbline_webhook_attempts_total{outcome="failure",status="2xx"}': 1,
    'plumbline_webhook_attempts_total{outcome="failure",status="5xx"}': 1,
    'plumbline_webhook_attempts_total{outcome="failure",status="none"}': 1,
    'plumbline_webhook_attempts_total{outcome="refused",status="4xx"}': 1,
    plumbline_webhook_dropped_deliveries_total: 1,
    'plumbline_webhook_dispatch_seconds{quantile="0.5"}': percentile(delays, 0.5) / 1000,
    'plumbline_webhook_dispatch_seconds{quantile="0.99"}': percentile(delays, 0.99) / 1000,
  })
})
