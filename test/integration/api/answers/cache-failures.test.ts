import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { FAMILIES, insertPlannedBatch } from '../../../../clickhouse/chain/batches.js'

import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { type Embedded, spawnEmbedded } from '../../../../local/engine/spawn.js'
import { cachedApp } from '../../../support/cached-app.js'
import { startRedis } from '../../../support/redis.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const STABLES = [1, 2, 3].map(stableAddress)
const pegOf = (stable: string): string => `/api/v1/stablecoins/${stable}/peg`

type Clickhouse = Parameters<typeof addFacts>[0]

/** Stable i is priced at 1 - i/1000, so that answers about different stables cannot be confused. */
const priceOf = (i: number): number => 1_000_000 - (i + 1) * 1000

async function addMarket(clickhouse: Clickhouse): Promise<number> {
  const at = Math.floor(Date.now() / 1000) - 60
  await addBlocks(clickhouse, [at - 1000, at], 1)
  await insertPlannedBatch(clickhouse, {
    track: 'tip',
    sequence_number: 1,
    from_block: 1,
    to_block: 2,
    last_hash: '',
    writer: 'test',
    families: FAMILIES,
    stables: [],
  })
  await addFacts(clickhouse, {
    stablecoins: STABLES.map((_, i) => stablecoin(i + 1, { block_time: at - 1000 })),
    samples: STABLES.flatMap((stable, i) =>
      pegSamples(stable, [
        { at: at - 1000, price: priceOf(i) },
        { at, price: priceOf(i) },
      ]),
    ),
  })
  return at
}

type Seen = { status: number; price: number | undefined; isStale: boolean; ttl: number; i: number }

/** Requests the peg of stable `i`; returns the answer and its age. */
async function ask(app: Awaited<ReturnType<typeof cachedApp>>, i: number, query = ''): Promise<Seen> {
  const response = await app.inject(`${pegOf(STABLES[i] as string)}${query}`)
  const status = `${response.headers['cache-status']}`
  const body = response.json() as { current?: { price_vs_refusd: number }; type?: string }
  if (response.statusCode === 503) expect(body.type).toBe('urn:plumbline:problem:unavailable')
  return {
    status: response.statusCode,
    price: body.current?.price_vs_refusd,
    isStale: status.endsWith('detail=stale'),
    ttl: Number(/ttl=(-?\d+)/.exec(status)?.[1] ?? 0),
    i,
  }
}

test('without ClickHouse, cached answers and the state are served as stale, others are 503, and no answer is wrong', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-cache-'))
  const start = (port: number): Promise<Embedded> => spawnEmbedded({ dataDir, port, user: 'default', password: 'test' })
  let engine = await start(0)
  onTestFinished(async () => {
    await engine.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const env = {
    CLICKHOUSE_URL: engine.url,
    CLICKHOUSE_USER: 'default',
    CLICKHOUSE_PASSWORD: 'test',
    CLICKHOUSE_DATABASE: 'cache_failures',
  }
  await migrate(env)
  const clickhouse = connect(env, { application: 'plumbline-test' })
  onTestFinished(() => clickhouse.close())
  const at = await addMarket(clickhouse)
  let ahead = 0
  const app = await cachedApp(clickhouse, { now: () => new Date(Date.now() + ahead) })

  const seen: Seen[] = []
  let isOver = false
  let instant = at - 1
  const hot = async (i: number): Promise<void> => {
    while (!isOver) {
      seen.push(await ask(app, i))
      await sleep(5)
    }
  }
  const cold = async (): Promise<void> => {
    while (!isOver) {
      instant -= 1
      seen.push(await ask(app, 2, `?as_of=${instant}`))
      await sleep(20)
    }
  }
  const load = Promise.all([hot(0), hot(0), hot(1), cold()])
  const since = (from: number, test: (one: Seen) => boolean): boolean => seen.slice(from).some(test)
  const happens = (test: (one: Seen) => boolean) => {
    const from = seen.length
    return expect.poll(() => since(from, test), { timeout: 120_000 }).toBe(true)
  }
  await happens(({ i, status }) => i === 2 && status === 200)
  await happens(({ i, status }) => i === 0 && status === 200)
  await happens(({ i, status }) => i === 1 && status === 200)

  const status = await app.inject('/api/v1/status')
  engine.child.kill('SIGKILL')
  await engine.exited
  await happens(({ i, isStale }) => i === 0 && isStale)
  await happens(({ i, status }) => i === 2 && status === 503)
  // The state of the service is the last that was read, and says of when it is.
  ahead = 10_000
  const later = await app.inject('/api/v1/status')
  expect([later.statusCode, later.json()]).toEqual([200, status.json()])
  ahead = 120_000
  expect((await app.inject('/api/v2/status.json')).json()).toMatchObject({
    page: { updated_at: expect.stringContaining(status.json().at.slice(0, -1)) },
    status: { indicator: 'major', description: `The state of the service could not be read since ${status.json().at}` },
  })
  ahead = 0
  engine = await start(Number(new URL(env.CLICKHOUSE_URL).port))
  await happens(({ i, status }) => i === 2 && status === 200)
  await happens(({ i, isStale }) => i === 0 && !isStale)

  // ClickHouse hangs: connections open, but nothing is returned.
  engine.child.kill('SIGSTOP')
  await happens(({ i, isStale }) => i === 1 && isStale)
  engine.child.kill('SIGCONT')
  await happens(({ i, isStale }) => i === 1 && !isStale)
  isOver = true
  await load

  for (const { status, price, isStale, ttl, i } of seen) {
    if (i !== 2) expect(status).toBe(200)
    if (status === 200) expect(price).toBe(priceOf(i) / 1e6)
    else expect(status).toBe(503)
    if (isStale) expect(ttl).toBeLessThan(0)
  }
})

test('processes share computed answers, and work without Redis while it is down', async ({ clickhouse }) => {
  const at = await addMarket(clickhouse)
  // An answer about the past is kept for an hour.
  const past = `?as_of=${at - 1000}`
  const server = await startRedis()
  onTestFinished(() => server.remove())
  const redisOf = (): Redis => {
    const redis = new Redis(server.url, { maxRetriesPerRequest: 1, commandTimeout: 60_000, retryStrategy: () => 50 })
    redis.on('error', () => {})
    onTestFinished(() => redis.disconnect())
    return redis
  }
  const redises = [redisOf(), redisOf()] as const
  await Promise.all(redises.map((redis) => redis.ping()))
  const alone = await cachedApp(clickhouse)
  await ask(alone, 0, past)

  const [one, two] = await Promise.all([
    // However busy the machine is, each waits for the other.
    cachedApp(clickhouse, { redis: redises[0], patienceMs: 60_000, nowMs: () => 0 }),
    cachedApp(clickhouse, { redis: redises[1], patienceMs: 60_000, nowMs: () => 0 }),
  ])
  const asked = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n % 2 === 0 ? one : two, 0, past)))
  expect(asked.every(({ status, price }) => status === 200 && price === priceOf(0) / 1e6)).toBe(true)
  const spent = [...one.queries, ...two.queries].filter((query) => query !== 'stablecoin_addresses')
  expect(spent.toSorted()).toEqual(alone.queries.filter((query) => query !== 'stablecoin_addresses').toSorted())

  await server.kill()
  for (const app of [one, two]) {
    expect(await ask(app, 1, past)).toMatchObject({ status: 200, price: priceOf(1) / 1e6, isStale: false })
    expect(await ask(app, 0, past)).toMatchObject({ status: 200, price: priceOf(0) / 1e6, isStale: false })
  }
  await server.startAgain()
  await expect.poll(() => redises.map(({ status }) => status), { timeout: 60_000 }).toEqual(['ready', 'ready'])
  expect(await ask(one, 2, past)).toMatchObject({ status: 200, price: priceOf(2) / 1e6 })
  await expect.poll(() => redises[0].keys('*:answer:*'), { timeout: 60_000 }).not.toEqual([])
  const before = two.queries.length
  expect(await ask(two, 2, past)).toMatchObject({ status: 200, price: priceOf(2) / 1e6 })
  expect(two.queries.slice(before)).toEqual([])
})
