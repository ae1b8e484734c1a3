import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { readyApi } from '../../../support/api-server.js'
import { test } from '../../../support/app.js'
import { addApiKey } from '../../../support/keys.js'
import { addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const FREE = '/api/v1/stablecoins'

const tally = (statuses: readonly number[]) => ({
  200: statuses.filter((status) => status === 200).length,
  429: statuses.filter((status) => status === 429).length,
  other: statuses.filter((status) => status !== 200 && status !== 429),
})

test('two processes with one Redis count together, by address and by key', async ({
  clickhouseEnv,
  clickhouse,
  redis,
}) => {
  const { key } = await addApiKey(clickhouse, { requests_per_minute: 25 })
  const env = { ...clickhouseEnv, REDIS_URL: redis.url, FREE_REQUESTS_PER_MINUTE: '15' }
  const processes = await Promise.all([readyApi(env), readyApi(env)])
  const urls = processes.map(({ url }) => url)
  // Health has no limit, and is ok once Redis is connected.
  for (const url of urls) {
    const ready = async () => (await fetch(new URL('/health/ready', url))).status
    await expect.poll(ready, { timeout: 60_000 }).toBe(200)
  }
  for (const [headers, limit] of [
    [{}, 15],
    [{ authorization: `Bearer ${key}` }, 25],
  ] as const) {
    const ask = async (i: number) => (await fetch(urls[i % 2] as string, { headers })).status
    const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i)))
    expect(tally(statuses)).toEqual({ 200: limit, 429: 60 - limit, other: [] })
  }
  for (const { stderr } of processes) expect(stderr.join('')).not.toContain('redis is unreachable')
})

test('while Redis is killed or hangs and comes back, no request fails, and limits hold with and without it', async ({
  clickhouse,
  redis,
}) => {
  const client = new Redis(redis.url, { maxRetriesPerRequest: 1, commandTimeout: 10_000, retryStrategy: () => 50 })
  client.on('error', () => {})
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const app = await buildApp({
    clickhouse,
    redis: client,
    now: () => new Date(),
    limits: { free: 30, key: 1 },
    database: 'here',
    logger: pino({ level: 'info' }, { write }),
  })
  onTestFinished(async () => {
    await app.close()
    client.disconnect()
  })
  await client.ping()
  // Separate addresses, so that each stretch begins at 0.
  const burst = async (remoteAddress: string, during: () => Promise<void> = async () => {}) => {
    const asked = Array.from({ length: 50 }, async (_, i) => {
      if (i === 20) await during()
      return (await app.inject({ url: FREE, remoteAddress })).statusCode
    })
    return tally(await Promise.all(asked))
  }
  const shared = async (address: string) => client.get(`plumbline:here:requests:${address}`)

  expect(await burst('192.0.2.1')).toEqual({ 200: 30, 429: 20, other: [] })
  expect(await shared('192.0.2.1')).toBe('50')
  const cut = await burst('192.0.2.2', () => redis.kill())
  expect(cut.other).toEqual([])
  expect(log).toMatch(/redis is unreachable: each process counts/)
  expect(await burst('192.0.2.3')).toEqual({ 200: 30, 429: 20, other: [] })

  await redis.startAgain()
  const address = () => `198.51.100.${Math.floor(Math.random() * 255)}`
  await expect
    .poll(
      async () => {
        const one = address()
        expect((await app.inject({ url: FREE, remoteAddress: one })).statusCode).toBeLessThan(430)
        return shared(one).catch(() => null)
      },
      { timeout: 60_000 },
    )
    .not.toBeNull()
  expect(log).toContain('redis is back')
  expect(await burst('192.0.2.4')).toEqual({ 200: 30, 429: 20, other: [] })
  expect(await shared('192.0.2.4')).toBe('50')
  expect(log.match(/redis is unreachable: each/g)).toHaveLength(1)

  // Redis may also accept connections but not answer.
  redis.freeze()
  expect(await burst('192.0.2.5')).toEqual({ 200: 30, 429: 20, other: [] })
  redis.thaw()
  await expect.poll(() => log.match(/redis is back/g)?.length, { timeout: 60_000 }).toBe(2)
  expect(await burst('192.0.2.6')).toEqual({ 200: 30, 429: 20, other: [] })
  expect(await shared('192.0.2.6')).toBe('50')
})

test('a long answer counts as several requests, health as none', async ({ clickhouse, clock }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const { key } = await addApiKey(clickhouse, { requests_per_minute: 1000 })
  const app = await buildApp({
    clickhouse,
    now: () => clock.now,
    limits: { free: 1000, key: 1 },
    logger: pino({ level: 'silent' }),
  })
  onTestFinished(() => app.close())
  let left = 1000
  const costOf = async (url: string, authorization?: string, method: 'GET' | 'HEAD' = 'GET', range?: string) => {
    const given = { ...(authorization !== undefined && { authorization }), ...(range !== undefined && { range }) }
    const { headers } = await app.inject({ url, method, headers: given })
    const before = left
    left = Number(/r=(\d+)/.exec(headers.ratelimit as string)?.[1])
    return before - left
  }
  const series = `${FREE}/${stableAddress(1)}/peg/series`
  const now = Math.floor(clock.now.getTime() / 1000)
  expect(await costOf(FREE)).toBe(1)
  expect(await costOf(`${FREE}/nonsense`)).toBe(1)
  expect(await costOf(`${series}?from=24h`)).toBe(1)
  // 30 days of minutes are 43,200 rows.
  expect(await costOf(`${series}?from=${now - 30 * 86_400}&interval=1m`)).toBe(5)
  expect(await costOf(`${series}?from=${now - 30 * 86_400}&interval=1m&limit=20000`)).toBe(3)
  expect(await costOf(`${series}?from=tomorrow`)).toBe(1)
  expect((await app.inject('/health/live')).headers).not.toHaveProperty('ratelimit')
  expect(await costOf(FREE)).toBe(1)
  left = 1000
  const paying = `Bearer ${key}`
  expect(await costOf(`${FREE}/flows/export?from=24h`, paying)).toBe(11)
  // Once it is kept, a range of it costs no rows; the whole is read again.
  expect(await costOf(`${FREE}/flows/export?from=24h`, paying, 'HEAD')).toBe(11)
  expect(await costOf(`${FREE}/flows/export?from=24h`, paying, 'GET', 'bytes=0-9')).toBe(1)
  expect(await costOf(`${FREE}/flows/export?from=24h`, paying)).toBe(11)
  expect(await costOf(`${FREE}/flows/export?from=24h&limit=500`, paying)).toBe(1)
  expect(await costOf(`${FREE}/flows/history?from=${now - 86_400}&to=${now}`, paying)).toBe(1)
  expect(await costOf(`${FREE}/flows/history?from=${now - 366 * 86_400}&to=${now}`, paying)).toBe(13)
  expect(await costOf(`${FREE}/flows/history?from=${now}&to=${now - 366 * 86_400}`, paying)).toBe(1)
})
