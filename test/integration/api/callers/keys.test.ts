import { pino } from 'pino'
import { describe, expect, onTestFinished } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { ADMIN_KEY, test } from '../../../support/app.js'
import { addApiKey } from '../../../support/keys.js'
import { relayTo } from '../../../support/relay.js'
import { addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const KEYS = '/api/admin/keys'
const PAID = `/api/v1/stablecoins/${stableAddress(1)}/analysis`
const FREE = '/api/v1/stablecoins'

type App = Awaited<ReturnType<typeof buildApp>>

const bearing = (key: string) => ({ authorization: `Bearer ${key}` })
const admin = bearing(ADMIN_KEY)

const make = async (app: App, payload: object = { label: 'somebody' }) =>
  (await app.inject({ method: 'POST', url: KEYS, headers: admin, payload })).json()
const list = async (app: App, query = '') => (await app.inject({ url: KEYS + query, headers: admin })).json()
const revoke = (app: App, id: string) => app.inject({ method: 'DELETE', url: `${KEYS}/${id}`, headers: admin })
const status = async (app: App, url: string, key: string) =>
  (await app.inject({ url, headers: bearing(key) })).statusCode

test('a key is returned once, gives the access of its scopes, and none after it is revoked', async ({
  app,
  clickhouse,
  clock,
}) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const payload = { label: '  Ada’s desk ', scopes: ['paid', 'paid'], requests_per_minute: 1234 }
  const response = await app.inject({ method: 'POST', url: KEYS, headers: admin, payload })
  expect(response.statusCode).toBe(201)
  expect(response.headers['cache-control']).toBe('no-store')
  const { key, ...shown } = response.json()
  expect(key).toMatch(/^pk_[\w-]{43}$/)
  expect(shown).toEqual({
    id: expect.stringMatching(/^key_[0-9a-f]{16}$/),
    label: 'Ada’s desk',
    prefix: key.slice(0, 11),
    scopes: ['paid'],
    requests_per_minute: 1234,
    created_at: clock.now.toISOString(),
    revoked_at: null,
  })
  expect(await status(app, PAID, key)).toBe(200)

  const listed = await app.inject({ url: KEYS, headers: admin })
  expect(listed.json().keys).toContainEqual({ ...shown, last_used_at: null })
  expect(listed.body).not.toContain(key.slice(11))
  expect(listed.headers['cache-control']).toBe('no-store')

  clock.now = new Date(clock.now.getTime() + 60_000)
  const revoked = { ...shown, revoked_at: clock.now.toISOString() }
  expect((await revoke(app, shown.id)).json()).toEqual(revoked)
  for (const url of [PAID, FREE]) expect(await status(app, url, key)).toBe(401)
  clock.now = new Date(clock.now.getTime() + 60_000)
  expect((await revoke(app, shown.id)).json()).toEqual(revoked)
  expect((await list(app)).keys).toContainEqual(expect.objectContaining(revoked))
})

test('only the admin key opens the admin routes', async ({ app, clickhouse }) => {
  const { key, id } = await addApiKey(clickhouse)
  for (const [method, url] of [
    ['GET', KEYS],
    ['POST', KEYS],
    ['DELETE', `${KEYS}/${id}`],
  ] as const) {
    const answer = async (headers: Record<string, string>) =>
      (await app.inject({ method, url, headers, ...(method === 'POST' && { payload: { label: 'mine' } }) })).json()
    expect(await answer({})).toMatchObject({ status: 401, type: 'urn:plumbline:problem:missing-key' })
    expect(await answer(bearing(`${ADMIN_KEY}x`))).toMatchObject({ status: 401 })
    expect(await answer(bearing(key))).toMatchObject({ status: 403, type: 'urn:plumbline:problem:forbidden' })
  }
  const { keys } = await list(app)
  expect(keys).toHaveLength(2)
  expect(keys).toContainEqual(expect.objectContaining({ id, revoked_at: null }))
})

test('a key without the scope has to pay like any caller, and the admin key does not', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const { key } = await make(app, { label: 'streams only', scopes: ['stream'] })
  expect(await status(app, PAID, key)).toBe(402)
  expect(await status(app, FREE, key)).toBe(200)
  expect(await status(app, PAID, ADMIN_KEY)).toBe(200)
})

test('only the hash of a key is in the database, and no part of it in a log', async ({ clickhouse, clock }) => {
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const logger = pino({ level: 'trace' }, { write })
  const app = await buildApp({ clickhouse, now: () => clock.now, adminKey: ADMIN_KEY, logger })
  const { key, id } = await make(app)
  await status(app, FREE, key)
  await revoke(app, id)
  await status(app, FREE, key)
  await app.close()
  const read = async (query: string) => (await clickhouse.query({ query, format: 'TabSeparatedRaw' })).text()
  const tables = await read("SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'View'")
  let rows = ''
  for (const table of tables.trim().split('\n'))
    if (!table.endsWith('_mv') && !table.startsWith('.')) rows += await read(`SELECT * FROM ${table}`)
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(key))).toString('hex')
  expect(rows).toContain(hash)
  expect(log).toContain(id)
  for (const secret of [key.slice(11), ADMIN_KEY.slice(3)]) expect(rows + log).not.toContain(secret)
  expect(log).not.toContain(hash)
})

test('keys are listed newest first, page by page', async ({ app, clickhouse }) => {
  const made = [0, 1, 1, 2, 3].map((second, i) => ({
    id: `key_${i}`,
    created_at: new Date(Date.UTC(2026, 8, 1, 0, 0, second)),
  }))
  for (const one of made) await addApiKey(clickhouse, one)
  const seen: string[] = []
  for (let query = '?limit=2'; query !== ''; ) {
    const { keys, next_cursor } = await list(app, query)
    seen.push(...keys.map(({ id }: { id: string }) => id))
    query = next_cursor === null ? '' : `?limit=2&cursor=${next_cursor}`
  }
  // The fixture's key, which is older, comes last.
  expect(seen).toEqual(['key_4', 'key_3', 'key_2', 'key_1', 'key_0', expect.any(String)])
})

test('the time of a key’s last use is written once for all of its uses', async ({ app, clickhouse, clock }) => {
  const [one, two] = [await addApiKey(clickhouse, { id: 'key_1' }), await addApiKey(clickhouse, { id: 'key_2' })]
  const used = async () =>
    Object.fromEntries((await list(app)).keys.map((key: Record<string, string>) => [key.id, key.last_used_at]))
  const moments = [clock.now, new Date(clock.now.getTime() + 1500), new Date(clock.now.getTime() + 7777)]
  for (const [i, key] of [one.key, one.key, two.key].entries()) {
    clock.now = moments[i] as Date
    await status(app, FREE, key)
  }
  expect(await used()).toMatchObject({ key_1: null, key_2: null })
  await app.keyUses.write()
  const expected = { key_1: moments[1]?.toISOString(), key_2: moments[2]?.toISOString() }
  expect(await used()).toMatchObject(expected)
  const query = 'SELECT count() AS rows FROM api_key_uses'
  const rows = async () => (await (await clickhouse.query({ query, format: 'JSONEachRow' })).json())[0]
  expect(await rows()).toEqual({ rows: '2' })
  await app.keyUses.write()
  expect(await rows()).toEqual({ rows: '2' })
  expect(await used()).toMatchObject(expected)
})

test('a key has no limit unless it is created with one', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const made = async (fields: object) =>
    (await app.inject({ method: 'POST', url: KEYS, headers: admin, payload: { label: 'a', ...fields } })).json()
  const fieldOf = async (key: string) =>
    (await app.inject({ url: FREE, headers: { authorization: `Bearer ${key}` } })).headers['ratelimit-policy']
  for (const fields of [{}, { requests_per_minute: null }]) {
    const { key, requests_per_minute } = await made(fields)
    expect([requests_per_minute, await fieldOf(key)]).toEqual([null, undefined])
  }
  const { key, requests_per_minute } = await made({ requests_per_minute: 7 })
  expect([requests_per_minute, await fieldOf(key)]).toEqual([7, '"key";q=7;w=60'])
})

describe('an invalid new key', () => {
  test('is a 400 that names the field', async ({ app }) => {
    for (const [payload, parameter] of [
      [{}, 'label'],
      [{ label: '' }, 'label'],
      [{ label: '   ' }, 'label'],
      [{ label: 'x'.repeat(101) }, 'label'],
      [{ label: 'a\nb' }, 'label'],
      [{ label: 'a\ud800b' }, 'label'],
      [{ label: 7 }, 'label'],
      [{ label: 'a', scopes: ['admin'] }, 'scopes'],
      [{ label: 'a', scopes: 'paid' }, 'scopes'],
      [{ label: 'a', requests_per_minute: 0 }, 'requests_per_minute'],
      [{ label: 'a', requests_per_minute: 1.5 }, 'requests_per_minute'],
      [{ label: 'a', requests_per_minute: 1e9 }, 'requests_per_minute'],
      [{ label: 'a', key: 'pk_mine' }, 'key'],
    ] as const) {
      const response = await app.inject({ method: 'POST', url: KEYS, headers: admin, payload })
      expect(response.json(), JSON.stringify(payload)).toMatchObject({ status: 400, parameter })
    }
    expect((await list(app)).keys).toHaveLength(1)
  })

  test('a missing or malformed body is refused', async ({ app }) => {
    const post = async (payload: string | Buffer, type = 'application/json') =>
      (await app.inject({ method: 'POST', url: KEYS, payload, headers: { ...admin, 'content-type': type } })).statusCode
    expect(await post('{')).toBe(400)
    expect(await post('{"label":"a","__proto__":{"scopes":[]}}')).toBe(400)
    expect(await post('null')).toBe(400)
    expect(await post('')).toBe(400)
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf0, 0x9f]])
      expect(await post(Buffer.concat([Buffer.from('{"label":"a'), Buffer.from(bytes), Buffer.from('"}')]))).toBe(400)
    expect(await post('label=a', 'application/x-www-form-urlencoded')).toBe(415)
    expect(await post(JSON.stringify({ label: 'a', padding: 'x'.repeat(70_000) }))).toBe(413)
    expect((await list(app)).keys).toHaveLength(1)
  })

  test('an unknown id is 404', async ({ app }) => {
    for (const id of ['key_0000000000000000', "' OR 1=1 --", '%00', 'x'.repeat(100)]) {
      const response = await revoke(app, encodeURIComponent(id))
      expect(response.json()).toMatchObject({ status: 404, type: 'urn:plumbline:problem:unknown-key' })
    }
    expect((await revoke(app, 'x'.repeat(101))).statusCode).toBe(400)
    expect((await list(app)).keys).toMatchObject([{ revoked_at: null }])
  })
})

test('another process soon knows a new key and a revoked one, and concurrent revocations are harmless', async ({
  app,
  clickhouse,
  clock,
}) => {
  const logger = pino({ level: 'silent' })
  const other = await buildApp({ clickhouse, now: () => clock.now, adminKey: ADMIN_KEY, logger })
  onTestFinished(() => other.close())
  const { key, id } = await make(app)
  await expect.poll(() => status(other, FREE, key), { timeout: 60_000 }).toBe(200)
  expect(await status(app, FREE, key)).toBe(200)
  const answers = await Promise.all([revoke(app, id), revoke(other, id)])
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200])
  expect(answers[0]?.json()).toEqual(answers[1]?.json())
  for (const one of [app, other]) await expect.poll(() => status(one, FREE, key), { timeout: 60_000 }).toBe(401)

  const { key: next, id: nextId } = await make(app)
  await expect.poll(() => status(other, FREE, next), { timeout: 60_000 }).toBe(200)
  await revoke(app, nextId)
  await expect.poll(() => status(other, FREE, next), { timeout: 60_000 }).toBe(401)
})

test('without ClickHouse known keys stay valid, and unknown ones are not called invalid', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const [known, unasked] = [await addApiKey(clickhouse), await addApiKey(clickhouse)]
  const relay = await relayTo(clickhouseEnv.CLICKHOUSE_URL)
  const through = connect({ ...clickhouseEnv, CLICKHOUSE_URL: relay.url }, { application: 'test' })
  const logger = pino({ level: 'silent' })
  const app = await buildApp({ clickhouse: through, now: () => new Date(), adminKey: ADMIN_KEY, logger })
  onTestFinished(async () => {
    await app.close()
    await relay.cut()
    await through.close()
  })
  // This route needs no database, only a known caller.
  const DOCUMENT = '/openapi.json'
  expect(await status(app, DOCUMENT, known.key)).toBe(200)
  await relay.cut()
  app.keys.expire()
  for (const { key } of [known, unasked]) expect(await status(app, DOCUMENT, key)).toBe(200)
  expect(await status(app, DOCUMENT, ADMIN_KEY)).toBe(200)
  const response = await app.inject({ url: DOCUMENT, headers: bearing('pk_nobody') })
  expect(response.json()).toMatchObject({ status: 503, type: 'urn:plumbline:problem:unavailable' })
  expect(response.headers['retry-after']).toBe('5')
  expect((await app.inject({ method: 'POST', url: KEYS, headers: admin, payload: { label: 'a' } })).statusCode).toBe(
    503,
  )
  await relay.mend()
  await expect.poll(() => status(app, DOCUMENT, 'pk_nobody'), { timeout: 60_000 }).toBe(401)
  expect(await status(app, DOCUMENT, known.key)).toBe(200)
})
