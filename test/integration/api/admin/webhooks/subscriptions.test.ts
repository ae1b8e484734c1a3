import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { buildApp } from '../../../../../api/app.js'
import { EVENT_TYPES } from '../../../../../clickhouse/events/types.js'
import { changeSubscription, webhookSubscription } from '../../../../../clickhouse/webhooks/subscriptions.js'
import { open, seal } from '../../../../../process/sealed-secret.js'
import { ADMIN_KEY, SUBSCRIPTION_KEY, test, WEBHOOK_TERMS } from '../../../../support/app.js'
import { addEvents, madeUpEvent } from '../../../../support/events.js'
import { addFacts, stableAddress, stablecoin } from '../../../../support/rows.js'
import { admin, ask, make, makeBody, WEBHOOKS } from '../../../../support/webhook-requests.js'
import { SECRETS_KEY } from '../../../../support/webhook-subscriptions.js'

const SECRET = /^whsec_[A-Za-z0-9+/]{32}$/
const DAY_MS = 86_400_000

/** An API that logs everything, and what it has logged so far. */
async function loggingApp(clickhouse: ClickHouseClient, { now }: { now: Date }) {
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const app = await buildApp({
    clickhouse,
    now: () => now,
    adminKey: ADMIN_KEY,
    webhooks: WEBHOOK_TERMS,
    logger: pino({ level: 'trace' }, { write }),
    loggedShare: 1,
  })
  return { app, logged: () => log }
}

test('a subscription is created as specified, and its secret is returned only once', async ({
  app,
  clickhouse,
  clock,
}) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2)] })
  await addEvents(clickhouse, [madeUpEvent(1), madeUpEvent(2)])
  const payload = {
    label: '  Ada’s pager ',
    url: 'https://hooks.example.com/plumbline?to=ada',
    event_types: ['peg_break.ended', 'peg_break.started', 'peg_break.ended'],
    stable_filter: [stableAddress(2).toUpperCase().replace('0X', '0x'), stableAddress(2)],
    severity: 'severe',
    min_bps: 62.5,
    min_seconds: 90,
    min_size: 10_000,
    min_severity: 'warning',
    quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' },
    digest_minutes: 60,
  }
  const response = await ask(app, 'POST', WEBHOOKS, payload)
  expect(response.statusCode).toBe(201)
  expect(response.headers['cache-control']).toBe('no-store')
  const { secret, ...shown } = response.json()
  expect(secret).toMatch(SECRET)
  expect(shown).toEqual({
    id: expect.stringMatching(/^wh_[0-9a-f]{16}$/),
    label: 'Ada’s pager',
    url: payload.url,
    event_types: ['peg_break.ended', 'peg_break.started'],
    stable_filter: [stableAddress(2)],
    severity: 'severe',
    min_bps: 62.5,
    min_seconds: 90,
    min_size: 10_000,
    min_severity: 'warning',
    format: 'plumbline',
    chat_id: null,
    quiet_hours: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin', critical_passes: true },
    digest_minutes: 60,
    state: 'enabled',
    reason: null,
    previous_secret_until: null,
    created_at: clock.now.toISOString(),
    changed_at: clock.now.toISOString(),
  })
  const listed = await ask(app, 'GET', WEBHOOKS)
  expect(listed.json()).toEqual({ webhooks: [shown], next_cursor: null })
  const health = { last_success_at: null, failing_since: null, attempts_24h: 0, successes_24h: 0, pending: 0 }
  expect((await ask(app, 'GET', `${WEBHOOKS}/${shown.id}`)).json()).toEqual({ ...shown, health })

  const stored = await webhookSubscription(clickhouse, shown)
  expect(stored).toMatchObject({ version: 1, after_sequence: 2 })
  expect(open(SECRETS_KEY, shown.id, stored?.secret ?? '')).toBe(secret)
  const twin = await make(app, payload)
  expect(twin.id).not.toBe(shown.id)
  expect(twin.secret).not.toBe(secret)
  // As it is called.
  const spelled = await make(app, { ...payload, url: 'HTTPS://@Hooks.Example.com:443/a/../b?c=é' })
  expect(spelled.url).toBe('https://hooks.example.com/b?c=%C3%A9')
  const moved = await ask(app, 'PATCH', `${WEBHOOKS}/${spelled.id}`, { url: 'https://:@hooks.example.com' })
  expect(moved.json()).toMatchObject({ url: 'https://hooks.example.com/' })
  // All that it takes.
  const least = { url: 'http://hooks.example.org/hook', event_types: ['system.health_drift'] }
  expect(await make(app, least)).toMatchObject({
    ...least,
    ...{ label: '', stable_filter: null, severity: null, min_bps: null, min_seconds: null, min_size: null },
    ...{ min_severity: null, format: 'plumbline', chat_id: null, quiet_hours: null, digest_minutes: null },
  })
})

test('no part of a secret is in a row, a log or any answer except the one that returns it', async ({
  clickhouse,
  clock,
}) => {
  const { app, logged } = await loggingApp(clickhouse, clock)
  const headers = { 'idempotency-key': 'a-key-that-is-kept-nowhere' }
  const made = await make(app, makeBody(), headers)
  const rotated = (await ask(app, 'POST', `${WEBHOOKS}/${made.id}/rotate-secret`, undefined, headers)).json()
  expect(rotated.secret).toMatch(SECRET)
  expect(rotated.secret).not.toBe(made.secret)
  const others = [
    await ask(app, 'POST', `${WEBHOOKS}/${made.id}/test`, {}),
    await ask(app, 'GET', `${WEBHOOKS}/${made.id}/deliveries`),
    await ask(app, 'PATCH', `${WEBHOOKS}/${made.id}`, { label: 'other' }),
    await ask(app, 'POST', `${WEBHOOKS}/${made.id}/disable`),
    await ask(app, 'POST', `${WEBHOOKS}/${made.id}/enable`),
    await ask(app, 'GET', WEBHOOKS),
    await ask(app, 'GET', `${WEBHOOKS}/${made.id}`),
    await ask(app, 'DELETE', `${WEBHOOKS}/${made.id}`),
  ]
  for (const { statusCode } of others) expect(statusCode).toBeLessThan(300)
  await app.close()
  const read = async (query: string) => (await clickhouse.query({ query, format: 'TabSeparatedRaw' })).text()
  const tables = await read("SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'View'")
  let rows = ''
  for (const table of tables.trim().split('\n'))
    if (!table.endsWith('_mv') && !table.startsWith('.')) rows += await read(`SELECT * FROM ${table}`)
  expect(rows).toContain(made.id)
  expect(logged()).toContain(made.id)
  const seen = rows + logged() + others.map(({ body }) => body).join('')
  for (const secret of [made.secret, rotated.secret, SECRETS_KEY.toString('base64url')]) {
    const text = secret.replace('whsec_', '')
    for (const form of [text, Buffer.from(secret).toString('base64url'), Buffer.from(secret).toString('hex')])
      expect(seen).not.toContain(form)
  }
  expect(seen).not.toContain(headers['idempotency-key'])
  expect(seen).not.toContain(ADMIN_KEY.slice(3))
})

test('the URL of a chat service is in no row, log or answer, and comes back from none', async ({
  clickhouse,
  clock,
}) => {
  const { app, logged } = await loggingApp(clickhouse, clock)
  const [token, other] = [
    '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
    '220201543:BBHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
  ]
  const urlOf = (bot: string): string => `https://api.telegram.org/bot${bot}/sendMessage`
  const telegram = { ...makeBody(), url: urlOf(token), format: 'telegram', chat_id: '-1001' }
  const stored = async (id: string) => {
    const row = await webhookSubscription(clickhouse, { id })
    return row?.sealed_url ? open(SECRETS_KEY, `${id} url`, row.sealed_url) : row?.url
  }
  const { secret: _, ...made } = await make(app, telegram)
  const shown = 'https://api.telegram.org/…'
  expect(made).toMatchObject({ url: shown, format: 'telegram', chat_id: '-1001' })
  const url = `${WEBHOOKS}/${made.id}`
  const patch = async (payload: object) => (await ask(app, 'PATCH', url, payload)).json()
  expect(await stored(made.id)).toBe(urlOf(token))
  // Callers that write what they have read change nothing.
  expect(await patch({ url: shown, format: 'telegram', chat_id: '-1001' })).toEqual(made)
  expect(await patch({ url: urlOf(token) })).toEqual(made)
  expect(await webhookSubscription(clickhouse, made)).toMatchObject({ version: 1 })
  expect(await patch({ chat_id: '@channel' })).toMatchObject({ url: shown, chat_id: '@channel' })
  expect(await patch({ url: urlOf(other) })).toMatchObject({ url: shown })
  expect(await stored(made.id)).toBe(urlOf(other))
  // A change of the format does not make it readable, and another URL is shown again.
  expect(await patch({ format: 'plumbline', chat_id: null })).toMatchObject({ url: shown, chat_id: null })
  const host = 'https://chat.example/hooks/abcdefghijklmnop'
  expect(await patch({ url: host })).toMatchObject({ url: host })
  expect(await patch({ format: 'slack' })).toMatchObject({ url: 'https://chat.example/…', format: 'slack' })
  expect(await patch({ format: 'cloudevents' })).toMatchObject({ url: 'https://chat.example/…' })
  expect(await stored(made.id)).toBe(host)
  // By its host alone.
  const plain = await make(app, makeBody({ url: 'https://hooks.slack.com/services/T0/B0/verysecretindeed' }))
  expect(plain.url).toBe('https://hooks.slack.com/…')
  const answers = [
    await ask(app, 'GET', WEBHOOKS),
    await ask(app, 'GET', url),
    await ask(app, 'POST', `${url}/test`, {}),
    await ask(app, 'GET', `${url}/deliveries`),
    await ask(app, 'DELETE', url),
  ]
  const refused = async (payload: object) => {
    const answer = (await ask(app, 'POST', WEBHOOKS, payload)).json()
    answers.push({ body: JSON.stringify(answer) } as (typeof answers)[number])
    return answer
  }
  for (const [changes, parameter] of [
    [{ chat_id: undefined }, 'chat_id'],
    [{ chat_id: null }, 'chat_id'],
    [{ chat_id: 'me' }, 'chat_id'],
    [{ format: 'slack' }, 'chat_id'],
    [{ format: 'teams' }, 'format'],
    [{ url: `https://api.telegram.org/bot${token}/getMe` }, 'url'],
    [{ min_severity: 'severe' }, 'min_severity'],
  ] as const)
    expect(await refused({ ...telegram, ...changes }), JSON.stringify(changes)).toMatchObject({
      status: 400,
      parameter,
    })
  await app.close()
  const rows = await (
    await clickhouse.query({ query: 'SELECT * FROM webhook_subscriptions', format: 'TabSeparatedRaw' })
  ).text()
  const seen = rows + logged() + answers.map(({ body }) => body).join('')
  for (const part of ['AAHdqTcv', 'BBHdqTcv', 'verysecretindeed']) expect(seen).not.toContain(part)
})

test('if SECRETS_KEY was lost, the rest of a subscription can be changed, and its URL given again', async ({
  app,
  clickhouse,
}) => {
  const url = 'https://hooks.slack.com/services/T0/B0/verysecretindeed'
  const { id } = await make(app, makeBody({ url, format: 'slack' }))
  const lost = seal(Buffer.alloc(32, 1), `${id} url`, url)
  await changeSubscription(clickhouse, id, (newest) => ({ ...newest, sealed_url: lost }))
  const patch = async (payload: object) => (await ask(app, 'PATCH', `${WEBHOOKS}/${id}`, payload)).json()
  expect(await patch({ label: 'other' })).toMatchObject({ label: 'other' })
  expect(await patch({ format: 'discord' })).toMatchObject({ status: 400, parameter: 'url' })
  expect(await patch({ url })).toMatchObject({ url: 'https://hooks.slack.com/…', format: 'slack' })
  const row = await webhookSubscription(clickhouse, { id })
  expect(open(SECRETS_KEY, `${id} url`, row?.sealed_url ?? '')).toBe(url)
})

test('subscriptions require the admin key, and a service with a key to encrypt secrets', async ({
  app,
  clickhouse,
}) => {
  const { id } = await make(app)
  const places = [
    ['POST', WEBHOOKS],
    ['GET', WEBHOOKS],
    ['GET', `${WEBHOOKS}/${id}`],
    ['PATCH', `${WEBHOOKS}/${id}`],
    ['DELETE', `${WEBHOOKS}/${id}`],
    ['POST', `${WEBHOOKS}/${id}/disable`],
    ['POST', `${WEBHOOKS}/${id}/enable`],
    ['POST', `${WEBHOOKS}/${id}/rotate-secret`],
    ['POST', `${WEBHOOKS}/${id}/test`],
    ['GET', `${WEBHOOKS}/${id}/deliveries`],
    ['POST', `${WEBHOOKS}/${id}/deliveries/1/replay`],
    ['POST', `${WEBHOOKS}/${id}/replay`],
  ] as const
  const logger = pino({ level: 'silent' })
  const without = await buildApp({ clickhouse, now: () => new Date(), adminKey: ADMIN_KEY, logger })
  for (const [method, url] of places) {
    const refusal = async (headers: Record<string, string>) => (await app.inject({ method, url, headers })).json()
    expect(await refusal({})).toMatchObject({ status: 401, type: 'urn:plumbline:problem:missing-key' })
    expect(await refusal({ authorization: `Bearer ${ADMIN_KEY}x` })).toMatchObject({ status: 401 })
    const subscriber = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }
    expect(await refusal(subscriber)).toMatchObject({ status: 403, type: 'urn:plumbline:problem:forbidden' })
    const none = await without.inject({ method, url, headers: admin })
    expect(none.json()).toMatchObject({ status: 503, type: 'urn:plumbline:problem:webhooks-not-configured' })
    expect((await without.inject({ method, url })).statusCode).toBe(401)
  }
  await without.close()
  expect(await webhookSubscription(clickhouse, { id })).toMatchObject({ version: 1 })
})

test('a subscription can be changed, disabled, enabled and deleted, and its deliveries follow', async ({
  app,
  clickhouse,
  clock,
}) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  await addEvents(clickhouse, [madeUpEvent(1)])
  const { secret: _, ...made } = await make(app)
  const url = `${WEBHOOKS}/${made.id}`
  const later = () => {
    clock.now = new Date(clock.now.getTime() + 60_000)
    return clock.now.toISOString()
  }
  const changes = {
    label: '',
    url: 'https://example.org/',
    event_types: ['flow_anomaly.detected'],
    stable_filter: [stableAddress(1)],
    severity: 'mild',
    min_bps: 0.5,
    min_seconds: 1,
    min_size: 1,
  }
  let changed_at = later()
  expect((await ask(app, 'PATCH', url, changes)).json()).toEqual({ ...made, ...changes, changed_at })
  later()
  expect((await ask(app, 'PATCH', url, { label: '' })).json()).toMatchObject({ changed_at })
  expect((await ask(app, 'PATCH', url, {})).json()).toMatchObject({ ...changes, changed_at })
  changed_at = later()
  const unfiltered = { stable_filter: null, severity: null, min_bps: null, min_seconds: null, min_size: null }
  expect((await ask(app, 'PATCH', url, unfiltered)).json()).toEqual({ ...made, ...changes, ...unfiltered, changed_at })

  const disabled = { state: 'disabled', reason: 'admin', changed_at: later() }
  expect((await ask(app, 'POST', `${url}/disable`)).json()).toMatchObject(disabled)
  later()
  expect((await ask(app, 'POST', `${url}/disable`)).json()).toMatchObject(disabled)
  expect((await ask(app, 'PATCH', url, { label: 'off' })).json()).toMatchObject({ state: 'disabled', reason: 'admin' })
  await addEvents(clickhouse, [madeUpEvent(2), madeUpEvent(3)])
  const after = async () => (await webhookSubscription(clickhouse, made))?.after_sequence
  expect(await after()).toBe(1)
  const enabled = { state: 'enabled', reason: null, changed_at: later() }
  expect((await ask(app, 'POST', `${url}/enable`)).json()).toMatchObject(enabled)
  expect(await after()).toBe(3)
  await addEvents(clickhouse, [madeUpEvent(4)])
  later()
  expect((await ask(app, 'POST', `${url}/enable`)).json()).toMatchObject(enabled)
  expect(await after()).toBe(3)

  const deleted = { id: made.id, state: 'deleted', reason: null, changed_at: later() }
  expect((await ask(app, 'DELETE', url)).json()).toMatchObject(deleted)
  later()
  expect((await ask(app, 'DELETE', url)).json()).toMatchObject(deleted)
  expect((await ask(app, 'GET', url)).json()).toMatchObject(deleted)
  expect((await ask(app, 'GET', WEBHOOKS)).json()).toEqual({ webhooks: [], next_cursor: null })
  for (const [method, place, payload] of [
    ['PATCH', url, { label: 'a' }],
    ['POST', `${url}/enable`, undefined],
    ['POST', `${url}/disable`, undefined],
    ['POST', `${url}/rotate-secret`, undefined],
    ['POST', `${url}/test`, {}],
    ['POST', `${url}/replay`, { since: '1h' }],
  ] as const)
    expect((await ask(app, method, place, payload)).json(), place).toMatchObject({
      status: 404,
      type: 'urn:plumbline:problem:unknown-webhook',
    })
})

test('after a rotation the previous secret signs for another day, and older ones stop', async ({
  app,
  clickhouse,
  clock,
}) => {
  const made = await make(app)
  const rotate = async () => (await ask(app, 'POST', `${WEBHOOKS}/${made.id}/rotate-secret`)).json()
  const stored = async () => {
    const row = await webhookSubscription(clickhouse, made)
    return [row?.secret ?? '', row?.previous_secret ?? ''].map((sealed) => open(SECRETS_KEY, made.id, sealed))
  }
  const first = await rotate()
  expect(first.previous_secret_until).toBe(new Date(clock.now.getTime() + DAY_MS).toISOString())
  expect(await stored()).toEqual([first.secret, made.secret])
  clock.now = new Date(clock.now.getTime() + DAY_MS / 2)
  const second = await rotate()
  expect(second.previous_secret_until).toBe(new Date(clock.now.getTime() + DAY_MS).toISOString())
  expect(await stored()).toEqual([second.secret, first.secret])
  clock.now = new Date(clock.now.getTime() + DAY_MS)
  expect((await ask(app, 'GET', `${WEBHOOKS}/${made.id}`)).json()).toMatchObject({ previous_secret_until: null })

  // A secret that cannot be decrypted any more is not kept: nothing could be signed with it.
  const lost = seal(Buffer.alloc(32, 1), made.id, 'whsec_lost')
  await changeSubscription(clickhouse, made.id, (newest) => ({ ...newest, secret: lost }))
  expect(await rotate()).toMatchObject({ secret: expect.stringMatching(SECRET), previous_secret_until: null })
  const row = await webhookSubscription(clickhouse, made)
  expect(row).toMatchObject({ previous_secret: '', previous_secret_until: null })
})

describe('a request with an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order 66/a' }

  test('creates one subscription, however often it is repeated and at any process', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const logger = pino({ level: 'silent' })
    const other = await buildApp({
      clickhouse,
      now: () => clock.now,
      adminKey: ADMIN_KEY,
      webhooks: WEBHOOK_TERMS,
      logger,
    })
    const both = [app, other, app, other].map((one) => ask(one, 'POST', WEBHOOKS, makeBody(), headers))
    const answers = await Promise.all(both)
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    const made = answers[0]?.json()
    // Later changes to it make no difference.
    await ask(app, 'PATCH', `${WEBHOOKS}/${made.id}`, { label: 'other' })
    expect((await ask(other, 'POST', WEBHOOKS, makeBody(), headers)).json()).toEqual(made)
    await other.close()

    const refused = await ask(app, 'POST', WEBHOOKS, makeBody({ label: 'another' }), headers)
    expect(refused.json()).toMatchObject({ status: 422, type: 'urn:plumbline:problem:idempotency-key-reused' })
    expect((await ask(app, 'GET', WEBHOOKS)).json().webhooks).toHaveLength(1)
    await ask(app, 'POST', WEBHOOKS, makeBody(), { 'idempotency-key': 'order 66/b' })
    expect((await ask(app, 'GET', WEBHOOKS)).json().webhooks).toHaveLength(2)
  })

  test('is done once even if a crash has lost its row', async ({ app, clickhouse }) => {
    const lost = await make(app, makeBody(), headers)
    // The engine remembers the token, as after a kill between it and the row.
    await clickhouse.command({
      query: 'ALTER TABLE webhook_subscriptions DELETE WHERE true SETTINGS mutations_sync = 1',
    })
    const made = await make(app, makeBody(), headers)
    expect(made.id).not.toBe(lost.id)
    expect(await make(app, makeBody(), headers)).toEqual(made)
  })

  test('rotates a secret once', async ({ app, clickhouse }) => {
    const [one, two] = [await make(app), await make(app)]
    const rotate = (id: string, own = headers) => ask(app, 'POST', `${WEBHOOKS}/${id}/rotate-secret`, undefined, own)
    const answers = await Promise.all([rotate(one.id), rotate(one.id), rotate(one.id)])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    expect(answers[0]?.json().secret).toMatch(SECRET)
    await ask(app, 'PATCH', `${WEBHOOKS}/${one.id}`, { label: 'between' })
    expect((await rotate(one.id)).json().secret).toBe(answers[0]?.json().secret)
    expect(await webhookSubscription(clickhouse, one)).toMatchObject({ version: 3 })
    // The same key on another route is another request.
    expect((await rotate(two.id)).json().secret).not.toBe(two.secret)
    const again = await rotate(one.id, { 'idempotency-key': 'another' })
    expect(again.json().secret).not.toBe(answers[0]?.json().secret)
  })

  test('with an invalid key is refused', async ({ app }) => {
    for (const key of ['', 'x'.repeat(256), 'é']) {
      const response = await ask(app, 'POST', WEBHOOKS, makeBody(), { 'idempotency-key': key })
      expect(response.json(), key).toMatchObject({ status: 400, parameter: 'idempotency-key' })
    }
    expect((await ask(app, 'GET', WEBHOOKS)).json().webhooks).toEqual([])
  })
})

test('concurrent changes are all applied', async ({ app, clickhouse, clock }) => {
  const logger = pino({ level: 'silent' })
  const other = await buildApp({
    clickhouse,
    now: () => clock.now,
    adminKey: ADMIN_KEY,
    webhooks: WEBHOOK_TERMS,
    logger,
  })
  const { id } = await make(app)
  const url = `${WEBHOOKS}/${id}`
  const answers = await Promise.all([
    ask(app, 'PATCH', url, { label: 'new' }),
    ask(other, 'PATCH', url, { url: 'https://example.net/new' }),
    ask(app, 'PATCH', url, { event_types: ['peg_break.started'] }),
    ask(other, 'POST', `${url}/disable`),
    ask(app, 'POST', `${url}/rotate-secret`),
  ])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  await other.close()
  expect((await ask(app, 'GET', url)).json()).toMatchObject({
    label: 'new',
    url: 'https://example.net/new',
    event_types: ['peg_break.started'],
    state: 'disabled',
  })
  const newest = await webhookSubscription(clickhouse, { id })
  expect(newest?.version).toBe(6)
  expect(open(SECRETS_KEY, id, newest?.secret ?? '')).toBe(answers[4]?.json().secret)
  const query = `SELECT version FROM webhook_subscriptions WHERE id = '${id}' ORDER BY version`
  const stored = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  expect(stored).toEqual([1, 2, 3, 4, 5, 6].map((version) => ({ version })))
})

test('an invalid subscription is a 400 that names the field, and nothing is created or changed', async ({
  app,
  clickhouse,
}) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const unknown = stableAddress(404)
  const fields = [
    ['label', ['x'.repeat(101), 'a\nb', '\ud800', 7, null]],
    [
      'url',
      [
        '',
        'receiver',
        '/hook',
        'ftp://example.com/',
        'https://example.com/\udc00',
        'https://user:pass@example.com/',
        'https://example.com/#part',
        'https://example.com:8080/',
        'https://example.com:0/',
        `https://example.com/${'é'.repeat(700)}`,
        'http://127.0.0.1/',
        'http://0x7f.1/',
        'http://2130706433/',
        'http://localhost/',
        'http://169.254.169.254/latest/meta-data/',
        'http://[::ffff:7f00:1]/',
        'http://10.1.2.3/',
        `https://example.com/${'x'.repeat(2040)}`,
        7,
        null,
      ],
    ],
    ['event_types', [[], ['peg_break'], ['*'], 'peg_break.started', null]],
    ['stable_filter', [[], ['0x12'], [unknown], [stableAddress(1), unknown], 'all']],
    ['severity', ['', 'both', ['mild'], 1]],
    ['min_bps', [0, -1, '50', true, []]],
    ['min_seconds', [0, -1, 1.5, '60', 2 ** 32]],
    ['min_size', [0, -1, 1.5, '1000', 1_000_001, 1e300, true, []]],
  ] as const
  const made = await make(app)
  for (const [parameter, values] of fields)
    for (const value of values) {
      const payload = { ...makeBody(), [parameter]: value }
      const refused = await ask(app, 'POST', WEBHOOKS, payload)
      expect(refused.json(), JSON.stringify(payload)).toMatchObject({ status: 400, parameter })
      const unchanged = await ask(app, 'PATCH', `${WEBHOOKS}/${made.id}`, { [parameter]: value })
      expect(unchanged.json(), JSON.stringify(value)).toMatchObject({ status: 400, parameter })
    }
  for (const missing of ['url', 'event_types']) {
    const refused = await ask(app, 'POST', WEBHOOKS, { ...makeBody(), [missing]: undefined })
    expect(refused.json()).toMatchObject({ status: 400, parameter: missing })
  }
  const extra = await ask(app, 'POST', WEBHOOKS, { ...makeBody(), secret: 'whsec_mine' })
  expect(extra.json()).toMatchObject({ status: 400, parameter: 'secret' })
  const named = await ask(app, 'POST', WEBHOOKS, { ...makeBody(), stable_filter: [unknown] })
  expect(named.json().detail).toContain(unknown)
  expect(await webhookSubscription(clickhouse, made)).toMatchObject({ version: 1 })
  expect((await ask(app, 'GET', WEBHOOKS)).json().webhooks).toHaveLength(1)

  for (const id of ['wh_0000000000000000', "' OR 1=1 --", 'x'.repeat(100)])
    for (const method of ['GET', 'DELETE'] as const)
      expect((await ask(app, method, `${WEBHOOKS}/${encodeURIComponent(id)}`)).json()).toMatchObject({
        status: 404,
        type: 'urn:plumbline:problem:unknown-webhook',
        parameter: 'id',
      })
})

test('the number of subscriptions is limited, not counting deleted ones', async ({ clickhouse, clock }) => {
  const app = await buildApp({
    clickhouse,
    now: () => clock.now,
    adminKey: ADMIN_KEY,
    webhooks: { ...WEBHOOK_TERMS, mostSubscriptions: 2 },
    logger: pino({ level: 'silent' }),
  })
  const headers = { 'idempotency-key': 'the second' }
  const [first, second] = [await make(app), await make(app, makeBody(), headers)]
  const refused = await ask(app, 'POST', WEBHOOKS, makeBody())
  expect(refused.json()).toMatchObject({ status: 409, type: 'urn:plumbline:problem:too-many-webhooks' })
  expect(await make(app, makeBody(), headers)).toEqual(second)
  await ask(app, 'POST', `${WEBHOOKS}/${first.id}/disable`)
  expect((await ask(app, 'POST', WEBHOOKS, makeBody())).statusCode).toBe(409)
  await ask(app, 'DELETE', `${WEBHOOKS}/${first.id}`)
  expect((await ask(app, 'POST', WEBHOOKS, makeBody())).statusCode).toBe(201)
  await app.close()
})

test('subscriptions are listed page by page', async ({ app, clock }) => {
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    // Two with the same time are in the order of their ids.
    if (i !== 2) clock.now = new Date(clock.now.getTime() + 1)
    ids.push((await make(app, makeBody({ event_types: [...EVENT_TYPES] }))).id)
  }
  const seen: string[] = []
  for (let query = '?limit=2'; query !== ''; ) {
    const { webhooks, next_cursor } = (await ask(app, 'GET', WEBHOOKS + query)).json()
    seen.push(...webhooks.map(({ id }: { id: string }) => id))
    query = next_cursor === null ? '' : `?limit=2&cursor=${next_cursor}`
  }
  const [a, b, c, d, e] = ids as [string, string, string, string, string]
  expect(seen).toEqual([e, d, ...[b, c].sort().reverse(), a])
})

test('quiet hours and a digest can be set, changed as a whole and taken away, not with the format alertmanager', async ({
  app,
  clickhouse,
}) => {
  const night = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin', critical_passes: false }
  const { id } = await make(app, makeBody({ quiet_hours: night, digest_minutes: 5 }))
  expect(await webhookSubscription(clickhouse, { id })).toMatchObject({
    quiet_from: '22:00',
    quiet_to: '07:00',
    quiet_zone: 'Europe/Berlin',
    critical_passes: false,
    digest_minutes: 5,
  })
  const patch = async (payload: object) => (await ask(app, 'PATCH', `${WEBHOOKS}/${id}`, payload)).json()
  expect(await patch({ label: 'other' })).toMatchObject({ quiet_hours: night, digest_minutes: 5 })
  const day = { from: '08:00', to: '20:00', time_zone: 'America/New_York' }
  expect(await patch({ quiet_hours: day, digest_minutes: null })).toMatchObject({
    quiet_hours: { ...day, critical_passes: true },
    digest_minutes: null,
  })
  const unchanged = await webhookSubscription(clickhouse, { id })
  expect(await patch({ format: 'alertmanager' })).toMatchObject({ status: 400, parameter: 'quiet_hours' })
  for (const [changes, parameter] of [
    [{ quiet_hours: { ...night, from: '24:00' } }, 'quiet_hours'],
    [{ quiet_hours: { ...night, from: '7:00' } }, 'quiet_hours'],
    [{ quiet_hours: { ...night, to: '22:00' } }, 'quiet_hours'],
    [{ quiet_hours: { ...night, time_zone: '+02:00' } }, 'quiet_hours'],
    [{ quiet_hours: { ...night, time_zone: 'Europe/Nowhere' } }, 'quiet_hours'],
    [{ quiet_hours: { from: '22:00', to: '07:00' } }, 'quiet_hours'],
    [{ quiet_hours: { ...night, days: ['mon'] } }, 'days'],
    [{ quiet_hours: '22:00-07:00' }, 'quiet_hours'],
    [{ digest_minutes: 4 }, 'digest_minutes'],
    [{ digest_minutes: 1441 }, 'digest_minutes'],
    [{ digest_minutes: 7.5 }, 'digest_minutes'],
    [{ digest_minutes: '5' }, 'digest_minutes'],
  ] as const)
    expect(await patch(changes), JSON.stringify(changes)).toMatchObject({ status: 400, parameter })
  const zone = await patch({ quiet_hours: { ...night, time_zone: 'Europe/Nowhere' } })
  expect(zone.detail).toContain('must be the name of an IANA time zone')
  expect(await webhookSubscription(clickhouse, { id })).toEqual(unchanged)
  expect(await patch({ quiet_hours: null, format: 'alertmanager' })).toMatchObject({ quiet_hours: null })
  expect(await patch({ digest_minutes: 60 })).toMatchObject({ status: 400, parameter: 'digest_minutes' })
  const refused = await ask(app, 'POST', WEBHOOKS, makeBody({ format: 'alertmanager', quiet_hours: night }))
  expect(refused.json()).toMatchObject({ status: 400, parameter: 'quiet_hours' })
})
