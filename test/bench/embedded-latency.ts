// The embedded engine over HTTP, through the client, against the same statements on the engine in process.
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { defaultMaxConcurrentQueries, threadsFor } from '../../local/engine/threads.js'
import { startIdleServer } from './idle-server.js'
import { InProcess } from './in-process.js'
import { percentile, timed } from './measure.js'

const ROUNDS = 10
const PER_ROUND = 200
const LOAD_MS = 3_000
const KEYS = 1_000

const table = `CREATE TABLE points (k UInt32, t DateTime, v Float64) ENGINE = MergeTree ORDER BY (k, t)`
const rows = `INSERT INTO points SELECT number % ${KEYS}, number, number / 7 FROM numbers(1000000)`
const kinds = {
  'SELECT 1       ': () => 'SELECT 1',
  'point aggregate': (n: number) => `SELECT count() AS n, avg(v) AS mean FROM points WHERE k = ${(n * 7919) % KEYS}`,
}

const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
const engine = await spawnEmbedded({ dataDir: join(dir, 'http'), user: 'default', password: 'bench' })
const inProcess = await InProcess.start(join(dir, 'in-process'), threadsFor(defaultMaxConcurrentQueries))
const idle = await startIdleServer()
const agent = new Agent({ keepAlive: true })

const clientWith = (connections: number, url = engine.url): ClickHouseClient =>
  createClient({ url, password: 'bench', max_open_connections: connections })

async function ask(client: ClickHouseClient, query: string): Promise<void> {
  const result = await client.query({ query, format: 'JSONEachRow' })
  await result.json()
}

/** Without the client: what HTTP itself and the gateway take. */
function askRaw(query: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'bench' }
    const sent = request(
      `${engine.url}/?default_format=JSONEachRow`,
      { agent, method: 'POST', headers },
      (response) => {
        response.resume().on('end', () => resolve())
      },
    )
    sent.on('error', reject)
    sent.end(query)
  })
}

try {
  const client = clientWith(1)
  for (const query of [table, rows, 'OPTIMIZE TABLE points FINAL']) await client.command({ query })
  await inProcess.each([table, rows, 'OPTIMIZE TABLE points FINAL'])
  const idleClient = clientWith(1, idle.url)
  for (const [name, statement] of Object.entries(kinds)) {
    const times = { client: [] as number[], raw: [] as number[], engine: [] as number[], nothing: [] as number[] }
    // Side by side, so that what else the machine does weighs on all alike; the first round is for warming up.
    for (let round = 0; round <= ROUNDS; round++) {
      const statements = Array.from({ length: PER_ROUND }, (_, i) => statement(round * PER_ROUND + i))
      const took: typeof times = { client: [], raw: [], nothing: [], engine: await inProcess.each(statements) }
      for (const sql of statements) took.client.push(await timed(() => ask(client, sql)))
      for (const sql of statements) took.raw.push(await timed(() => askRaw(sql)))
      for (const sql of statements) took.nothing.push(await timed(() => ask(idleClient, sql)))
      if (round > 0) for (const [who, ms] of Object.entries(took)) times[who as keyof typeof times].push(...ms)
    }
    for (const p of [0.5, 0.99]) {
      const at = (who: keyof typeof times) => percentile(times[who], p)
      const added = at('client') - at('engine')
      console.log(
        `${name} p${p * 100}: client ${at('client').toFixed(2)} ms, in process ${at('engine').toFixed(2)}, added ${added.toFixed(2)}` +
          ` (target at p50: 1.5); HTTP without the client adds ${(at('raw') - at('engine')).toFixed(2)}; the client takes ${at('nothing').toFixed(2)} against a server that does nothing`,
      )
    }
  }
  await idleClient.close()
  await client.close()
  const statements = Array.from({ length: 500 }, (_, n) => kinds['point aggregate'](n))
  for (const connections of [1, 4, 16, 50]) {
    const client = clientWith(connections)
    const own = await inProcess.load(statements, connections, LOAD_MS)
    const end = performance.now() + LOAD_MS
    let count = 0
    const worker = async (i: number) => {
      for (let n = i; performance.now() < end; n++, count++)
        await ask(client, statements[n % statements.length] as string)
    }
    await Promise.all(Array.from({ length: connections }, (_, i) => worker(i)))
    await client.close()
    const [http, within] = [(count * 1000) / LOAD_MS, (own * 1000) / LOAD_MS]
    console.log(
      `${String(connections).padStart(2)} connections: ${http.toFixed(0)} point aggregates/s, in process ${within.toFixed(0)}, ratio ${(http / within).toFixed(2)}`,
    )
  }
} finally {
  agent.destroy()
  idle.stop()
  await inProcess.stop()
  await engine.stop()
  await rm(dir, { recursive: true, force: true })
}
