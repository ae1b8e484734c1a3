import { type FastifyBaseLogger, fastify } from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { auth } from '../../../../../api/callers/auth.js'
import { type ActiveKey, createActiveKeys } from '../../../../../api/callers/keys/active-keys.js'
import { hashOf, newApiKey, prefixOf } from '../../../../../api/callers/keys/api-key.js'
import { invalidKeys, MOST_INVALID_KEYS } from '../../../../../api/callers/keys/invalid-keys.js'
import { createRequestCounter } from '../../../../../api/callers/limits/request-counter.js'
import { createMetrics } from '../../../../../api/http/metrics.js'
import { sendProblem } from '../../../../../api/http/problem.js'
import { Memories } from '../../../../../process/memory.js'
import { withKeys } from '../../../../support/active-keys.js'

const made = () => {
  const { id, key } = newApiKey()
  return { key, row: { id, prefix: prefixOf(key), hash: hashOf(key), scopes: [], requests_per_minute: 1 } }
}

/** Keys, the clock, and how often the keys have been read. */
function setup(...rows: ActiveKey[]) {
  const state = { now: 0, reads: 0, rows, away: null as Error | null }
  const keys = createActiveKeys(
    async () => {
      state.reads += 1
      if (state.away) throw state.away
      return [...state.rows]
    },
    new Memories(),
    () => state.now,
  )
  return { state, find: async (token: string) => (await keys.find(token))?.id ?? null, expire: keys.expire }
}

test('a key is known by all of its characters', async () => {
  const [one, two] = [made(), made()]
  // However unlikely, two keys may share a prefix.
  const twin = `${one.key.slice(0, 11)}${two.key.slice(11)}`
  const { find } = setup(one.row, two.row, { ...two.row, id: 'twin', prefix: prefixOf(twin), hash: hashOf(twin) })
  expect(await find(one.key)).toBe(one.row.id)
  expect(await find(two.key)).toBe(two.row.id)
  expect(await find(twin)).toBe('twin')
  for (const wrong of ['', 'pk_', one.key.slice(0, -1), `${one.key}x`, one.key.toUpperCase(), one.row.hash, one.row.id])
    expect(await find(wrong), wrong).toBeNull()
})

test('keys are read once for any number of concurrent requests, and again when they are old', async () => {
  const { key, row } = made()
  const { state, find } = setup(row)
  expect(await Promise.all(Array.from({ length: 50 }, () => find(key)))).toEqual(Array(50).fill(row.id))
  expect(state.reads).toBe(1)
  state.now = 2000
  await find(key)
  expect(state.reads).toBe(1)
  state.now = 2001
  await find(key)
  await find(key)
  expect(state.reads).toBe(2)
})

test('a revoked key is refused after 5 seconds at the latest, even without requests in between', async () => {
  const { key, row } = made()
  for (const nows of [[5001], [1000, 2500, 2501], [3_600_000]]) {
    const { state, find } = setup(row)
    expect(await find(key)).toBe(row.id)
    state.rows = []
    for (state.now of nows.slice(0, -1)) await find(key)
    state.now = nows.at(-1) as number
    expect(await find(key), String(nows)).toBeNull()
  }
})

test('a new key is known within a second, and invalid tokens cause at most one read per second', async () => {
  const [old, fresh] = [made(), made()]
  const { state, find } = setup(old.row)
  await find(old.key)
  state.rows = [old.row, fresh.row]
  state.now = 1001
  expect(await find(fresh.key)).toBe(fresh.row.id)
  const { reads } = state
  for (let i = 0; i < 1000; i++) {
    state.now = 1001 + i
    expect(await find(`pk_${i}`)).toBeNull()
  }
  expect(state.reads).toBe(reads)
  state.now = 2002
  await find('pk_')
  expect(state.reads).toBe(reads + 1)
})

test('a change by this process applies at once, even while the keys are being read', async () => {
  const { key, row } = made()
  const { state, find, expire } = setup(row)
  const before = find(key)
  state.rows = []
  expire()
  expect(await before).toBeNull()
  expect(await find(key)).toBeNull()
})

test('valid keys are found and revoked ones are not, even if keys change during the look-up', async () => {
  const { key, row } = made()
  const reads: Array<(rows: ActiveKey[]) => void> = []
  let now = 0
  const keys = createActiveKeys(
    () => new Promise((resolve) => reads.push(resolve)),
    new Memories(),
    () => now,
  )
  const found = keys.find(key)
  reads[0]?.([row])
  keys.expire()
  await expect.poll(() => reads.length).toBe(2)
  reads[1]?.([row])
  expect(await found).toEqual(row)

  now = 10_000
  const revoked = keys.find(key)
  reads[2]?.([row])
  keys.expire()
  await expect.poll(() => reads.length).toBe(4)
  reads[3]?.([])
  expect(await revoked).toBeNull()
})

test('while the keys cannot be read, the last known ones stay valid, and others are not called invalid', async () => {
  const { key, row } = made()
  const { state, find } = setup(row)
  await find(key)
  state.away = new Error('away')
  for (state.now of [3000, 9000, 60_000, 86_400_000]) {
    expect(await find(key)).toBe(row.id)
    await expect(find('pk_nobody')).rejects.toThrow('away')
  }
  const { reads } = state
  for (let i = 0; i < 100; i++) {
    await find(key)
    await find('pk_nobody').catch(() => {})
  }
  expect(state.reads).toBe(reads)
  state.away = null
  state.rows = []
  state.now += 5001
  expect(await find(key)).toBeNull()
})

test('before the keys have been read, no key is called invalid', async () => {
  const { key, row } = made()
  const { state, find } = setup(row)
  state.away = new Error('away')
  await expect(find(key)).rejects.toThrow('away')
  state.away = null
  state.now = 1001
  expect(await find(key)).toBe(row.id)
})

const VALID = `pk_${'v'.repeat(43)}`
const wrong = (i: number): string => `pk_wrong-${i}-${'x'.repeat(30)}`

test('invalid keys are limited by address, logged without the key and counted; valid ones still work', async () => {
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const loggerInstance: FastifyBaseLogger = pino({ level: 'info' }, { write })
  const app = fastify({ loggerInstance })
  onTestFinished(() => app.close())
  app.setErrorHandler(sendProblem)
  app.decorate('metrics', createMetrics())
  withKeys(app, [{ key: VALID }], () => invalidKeys(app, createRequestCounter(null, 'test', loggerInstance)))
  auth(app, undefined)
  app.get('/data', async () => ({}))
  const ask = (key: string, remoteAddress = '192.0.2.1') =>
    app.inject({ url: '/data', remoteAddress, headers: { authorization: `Bearer ${key}` } })

  const statuses: number[] = []
  for (let i = 0; i < MOST_INVALID_KEYS + 5; i++) statuses.push((await ask(wrong(i))).statusCode)
  expect(statuses).toEqual([...Array(MOST_INVALID_KEYS).fill(401), ...Array(5).fill(429)])
  const limited = await ask(wrong(99))
  expect(limited.json()).toMatchObject({ status: 429, type: 'urn:plumbline:problem:too-many-invalid-keys' })
  expect(limited.headers['retry-after']).toBe('60')
  expect((await ask(VALID)).statusCode).toBe(200)
  expect((await ask(wrong(0), '192.0.2.2')).statusCode).toBe(401)

  const lines = log.split('\n').filter((line) => line.includes('invalid key'))
  expect(lines).toHaveLength(MOST_INVALID_KEYS + 1)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ ip: '192.0.2.1', method: 'GET', route: '/data' })
  expect(log).not.toContain('wrong-')
  const { values } = await app.metrics.invalidKeys.get()
  expect(values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
    ['refused', MOST_INVALID_KEYS + 1],
    ['limited', 6],
  ])
})
