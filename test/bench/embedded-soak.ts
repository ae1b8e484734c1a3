// Mixed load on the embedded engine for as many minutes as the first argument says (10): what it leaves behind.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClickHouseError, createClient } from '@clickhouse/client'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { rows } from './stack.js'

const minutes = Number(process.argv[2] ?? 10)
const STREAMED = 200_000

const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
const dataDir = join(dir, 'clickhouse')
const engine = await spawnEmbedded({ dataDir, user: 'default', password: 'bench' })
const clickhouse = createClient({
  url: engine.url,
  password: 'bench',
  max_open_connections: 40,
  request_timeout: 60_000,
  log: { level: 127 },
})

const counts: Record<string, number> = { inserts: 0, aggregates: 0, streams: 0, aborts: 0, errors: 0 }
const unexpected: string[] = []
let isOver = false

/** Does one kind of work over and over; what it throws is unexpected. */
async function keep(name: string, work: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; !isOver; n++) {
    try {
      await work(n)
      counts[name] = (counts[name] ?? 0) + 1
    } catch (error) {
      unexpected.push(`${name}: ${error instanceof Error ? error.message : error}`)
    }
  }
}

/** Refuses to go on without the error with this code. */
async function failing(query: string, code: string): Promise<void> {
  const error = await clickhouse.command({ query }).then(
    () => undefined,
    (thrown) => thrown,
  )
  if (!(error instanceof ClickHouseError) || error.code !== code) throw new Error(`${query} gave ${error}, not ${code}`)
}

const insert = async (n: number) => {
  const values = Array.from({ length: 500 }, (_, i) => ({ k: i % 50, n, text: `row ${i}\n\n; SELECT 1` }))
  await clickhouse.insert({ table: 'load', values, format: 'JSONEachRow' })
}

const aggregate = async (n: number) => {
  await rows(clickhouse, `SELECT k, count(), sum(n), uniq(text) FROM load WHERE k < ${n % 50} GROUP BY k`)
}

const stream = async () => {
  const result = await clickhouse.query({
    query: `SELECT number, toString(number) AS text FROM numbers(${STREAMED})`,
    format: 'JSONEachRow',
  })
  let seen = 0
  for await (const chunk of result.stream()) seen += chunk.length
  if (seen !== STREAMED) throw new Error(`${seen} of ${STREAMED} rows`)
}

/** Goes away before the answer, or in the middle of its rows, for which the client has another call. */
const abort = async (n: number) => {
  const gone = new AbortController()
  const abort_signal = gone.signal
  if (n % 2) {
    const asked = clickhouse.query({ query: 'SELECT count() FROM system.numbers', abort_signal }).catch(() => undefined)
    await sleep((n * 37) % 200)
    gone.abort()
    await asked
  } else {
    const query = 'SELECT number, repeat(toString(number), 9) FROM system.numbers'
    const result = await clickhouse.query({ query, format: 'JSONEachRow' })
    let left = n % 100
    for await (const _ of result.stream()) if (left-- === 0) break
    result.close()
  }
  await sleep(200)
}

const fail = async (n: number) => {
  if (n % 3 === 0) await failing('SELECT nothing', '47')
  else if (n % 3 === 1)
    await failing('SELECT uniqExact(number) FROM numbers(5000000) SETTINGS max_memory_usage = 9000000', '241')
  else await failing('SELECT throwIf(number = 900000) FROM numbers(1000000) FORMAT Null', '395')
  await sleep(100)
}

type Figures = { mb: number; files: number; openPipes: number; pipes: number; threads: number; queries: number }

async function look(): Promise<Figures> {
  const status = readFileSync(`/proc/${engine.pid}/status`, 'utf8')
  const figure = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  const [running] = await rows<{ n: number }>(clickhouse, 'SELECT toUInt32(count() - 1) AS n FROM system.processes')
  const files = openFiles()
  return {
    mb: Math.round(figure('VmRSS') / 1024),
    files: files.length,
    openPipes: files.filter((path) => path.includes('/pipes/')).length,
    pipes: readdirSync(join(dataDir, 'pipes')).length,
    threads: figure('Threads'),
    queries: running?.n ?? Number.NaN,
  }
}

function openFiles(): string[] {
  const folder = `/proc/${engine.pid}/fd`
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))]
    } catch {
      // Closed since.
      return []
    }
  })
}

try {
  await clickhouse.command({
    query: `CREATE TABLE load (k UInt32, n UInt32, text String, at DateTime DEFAULT now()) ENGINE = MergeTree
      ORDER BY k TTL at + INTERVAL 2 MINUTE`,
  })
  const works = [
    ...Array.from({ length: 3 }, () => keep('inserts', insert)),
    ...Array.from({ length: 6 }, () => keep('aggregates', aggregate)),
    ...Array.from({ length: 2 }, () => keep('streams', stream)),
    keep('aborts', abort),
    keep('errors', fail),
  ]
  const seen: Figures[] = []
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(60_000)
    const figures = await look()
    seen.push(figures)
    console.log(
      `minute ${minute}: ${JSON.stringify(figures)}, ${JSON.stringify(counts)}, ${unexpected.length} unexpected`,
    )
  }
  isOver = true
  await Promise.all(works)
  await sleep(2_000)
  const idle = await look()
  console.log(`idle: ${JSON.stringify(idle)}`)
  const half = Math.ceil(seen.length / 2)
  const most = (figures: Figures[], name: keyof Figures) => Math.max(...figures.map((one) => one[name]))
  const growth = (['mb', 'files', 'pipes', 'threads'] as const).map(
    (name) => `${name} ${most(seen.slice(0, half), name)} → ${most(seen.slice(half), name)}`,
  )
  console.log(
    `${idle.queries} stuck queries, ${idle.openPipes} pipes left open, ${unexpected.length} unexpected errors; most in the first half → in the second: ${growth.join(', ')}`,
  )
  for (const text of new Set(unexpected.slice(0, 20))) console.log(`  ${text}`)
} finally {
  isOver = true
  await clickhouse.close()
  await engine.stop()
  await rm(dir, { recursive: true, force: true })
}
