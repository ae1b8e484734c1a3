import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { type Embedded, spawnEmbedded } from '../../../../local/engine/spawn.js'
import { readyApi } from '../../../support/api-server.js'
import { startRedis } from '../../../support/redis.js'
import { addBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin, stateRead } from '../../../support/rows.js'

const credentials = { user: 'default', password: 'plumbline-test' }
const STABLES = [1, 2, 3, 4]
const CLIENTS = 8
/** The engine has to start three times, on a busy machine. */
const TIMEOUT_MS = 900_000

/** An engine that can be killed and restarted on its port and data. */
async function killableEngine() {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-outages-'))
  let engine: Embedded = await spawnEmbedded({ dataDir, port: 0, ...credentials })
  const port = Number(new URL(engine.url).port)
  onTestFinished(async () => {
    await engine.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  return {
    env: {
      CLICKHOUSE_URL: engine.url,
      CLICKHOUSE_USER: credentials.user,
      CLICKHOUSE_PASSWORD: credentials.password,
      CLICKHOUSE_DATABASE: 'outages',
    },
    kill: async () => {
      process.kill(engine.pid, 'SIGKILL')
      await engine.exited
    },
    startAgain: async () => {
      engine = await spawnEmbedded({ dataDir, port, ...credentials })
    },
  }
}

/** Requests whose correct answers never change: about a fixed past, or about missing objects. */
async function questions(origin: string, at: number): Promise<Map<string, { status: number; body: string }>> {
  const stables = STABLES.map(stableAddress).flatMap((stable) =>
    ['', '/peg', '/peg-events', '/depth', '/roles', '/rewards'].map((path) => `/${stable}${path}?as_of=${at}`),
  )
  const paths = [
    ...[`?as_of=${at}`, `/flows?hours=1&as_of=${at}`, `/flows?as_of=${at}`, `/flow-anomalies?as_of=${at}`].map(
      (path) => `/api/v1/stablecoins${path}`,
    ),
    ...stables.map((path) => `/api/v1/stablecoins${path}`),
    `/api/v1/stablecoins/${stableAddress(99)}/peg`,
    `/api/v1/stablecoins/${stableAddress(1)}/peg?as_of=yesterday`,
    '/health/live',
  ]
  const answers = await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${origin}${path}`)
      return [path, { status: response.status, body: await response.text() }] as const
    }),
  )
  return new Map(answers)
}

/** Sends all requests repeatedly, from several connections, until it is stopped. */
function load(origin: string, expected: ReadonlyMap<string, { status: number; body: string }>) {
  const seen = { right: 0, unavailable: 0, wrong: [] as string[] }
  const paths = [...expected.keys()]
  let isStopped = false
  const judge = async (path: string): Promise<void> => {
    const response = await fetch(`${origin}${path}`)
    const body = await response.text()
    const right = expected.get(path)
    if (response.status === right?.status && body === right.body) seen.right += 1
    else if (
      response.status === 503 &&
      Number(response.headers.get('retry-after')) > 0 &&
      response.headers.get('content-type')?.startsWith('application/problem+json')
    )
      seen.unavailable += 1
    else seen.wrong.push(`${path}: ${response.status} ${body.slice(0, 300)}`)
  }
  const client = async (first: number): Promise<void> => {
    for (let i = first; !isStopped; i += 1) {
      const path = paths[(i * 7) % paths.length] as string
      await judge(path).catch((error) => seen.wrong.push(`${path}: ${error.cause ?? error}`))
      await sleep(5)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i * 11)))
  return {
    seen,
    /** Waits for this many more correct answers. */
    answersMore: async (count: number): Promise<void> => {
      const enough = seen.right + count
      await expect.poll(() => seen.right, { timeout: 300_000 }).toBeGreaterThanOrEqual(enough)
    },
    stop: async () => {
      isStopped = true
      await clients
    },
  }
}

test(
  'while Redis and ClickHouse die and come back under load, every answer is correct or a 503',
  async () => {
    const [engine, redis] = await Promise.all([killableEngine(), startRedis()])
    onTestFinished(() => redis.remove())
    await migrate(engine.env)
    const clickhouse = connect(engine.env, { application: 'plumbline-test' })
    onTestFinished(() => clickhouse.close())
    const now = Math.floor(Date.now() / 1000)
    const times = Array.from({ length: 60 }, (_, i) => now - 7200 + i * 60)
    await addBlocks(clickhouse, times)
    await addFacts(clickhouse, {
      stablecoins: STABLES.map((i) => stablecoin(i, { block_time: now - 7200 })),
      states: STABLES.map((i) => stateRead(stableAddress(i), { block_time: now - 7200 })),
      samples: STABLES.flatMap((i) =>
        pegSamples(
          stableAddress(i),
          times.map((at, n) => ({ at, price: 1_000_000 + ((i * 37 + n * 101) % 500) })),
        ),
      ),
      flows: times.map((at, n) => flow(1 + (n % 3), 2 + (n % 3), at)),
    })

    const { url, stderr } = await readyApi({ ...engine.env, REDIS_URL: redis.url, FREE_REQUESTS_PER_MINUTE: '0' })
    const { origin } = new URL(url)
    const ready = async (): Promise<number> => (await fetch(`${origin}/health/ready`)).status
    const becomes = (status: number) => expect.poll(ready, { timeout: 300_000 }).toBe(status)
    await becomes(200)
    const expected = await questions(origin, now - 3600)
    const found = [...expected].filter(([, { status }]) => status === 200)
    expect(found.length).toBeGreaterThan(25)
    expect([...expected.values()].filter(({ status }) => status >= 500)).toEqual([])

    const { seen, answersMore, stop } = load(origin, expected)
    await answersMore(60)
    expect(seen).toMatchObject({ unavailable: 0, wrong: [] })

    await redis.kill()
    await becomes(503)
    await answersMore(60)
    // Nothing is lost with Redis, so no client notices.
    expect(seen).toMatchObject({ unavailable: 0, wrong: [] })
    await redis.startAgain()
    await becomes(200)

    await engine.kill()
    await becomes(503)
    await engine.startAgain()
    await becomes(200)
    await answersMore(60)

    await Promise.all([engine.kill(), redis.kill()])
    await becomes(503)
    await redis.startAgain()
    await engine.startAgain()
    await becomes(200)
    const before = seen.unavailable
    await answersMore(150)
    await stop()
    expect(seen.wrong).toEqual([])
    // Requests during the start may have had to wait; later ones do not.
    expect(seen.unavailable - before).toBeLessThanOrEqual(CLIENTS)
    expect(stderr.filter((line) => !line.startsWith('{'))).toEqual([])
  },
  TIMEOUT_MS,
)
