// What `npm start` takes when it has caught up and nobody asks: CPU and memory of each part, and the statements that the
// engine runs. Argument: minutes.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { newestBlock } from '../../clickhouse/chain/blocks.js'
import { type JobName, PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { jobStatuses } from '../../clickhouse/jobs/runs.js'
import { connect } from '../../clickhouse/store/client.js'
import { statsOf } from './process-stats.js'
import { startProgram } from './programs.js'
import { rows } from './stack.js'

const MINUTES = Number(process.argv[2] ?? 10)
/** After the jobs have caught up: the engine still merges what they wrote. */
const SETTLE_MINUTES = Number(process.env.SETTLE_MINUTES ?? 3)
const PASSWORD = 'bench'
/** The newest block is so new. */
const AT_HEAD_MS = 20_000
/** Jobs look for slots every minute. */
const LOOK_SECONDS = 90
/** Each part by a piece of its command line; the node is a child of the local chain, and counted by itself. */
const PARTS: Readonly<Record<string, string>> = {
  engine: 'local/engine/',
  chain: 'local/chain/main',
  node: '/anvil',
  ingest: 'ingest/main',
  jobs: 'jobs/main',
  api: 'api/server',
  start: 'local/main',
}

type Process = { pid: number; parent: number; command: string }

/** A process and everything that it started. */
function familyOf(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): Process[] => {
      try {
        const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1])
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }]
      } catch {
        return []
      }
    })
  const childrenOf = (pid: number): Process[] =>
    all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...childrenOf(child.pid)])
  return [...all.filter(({ pid }) => pid === root), ...childrenOf(root)]
}

/** CPU seconds and megabytes of each part by now. */
function usage(root: number): Map<string, { cpuSeconds: number; peakMb: number; residentMb: number }> {
  const parts = new Map(Object.keys(PARTS).map((part) => [part, { cpuSeconds: 0, peakMb: 0, residentMb: 0 }]))
  for (const { pid, command } of familyOf(root)) {
    const part = parts.get(Object.keys(PARTS).find((name) => command.includes(PARTS[name] ?? '')) ?? 'start')
    if (!part) continue
    const { cpuSeconds, peakMb, residentMb } = statsOf(pid)
    part.cpuSeconds += cpuSeconds
    part.peakMb += peakMb
    part.residentMb += residentMb
  }
  return parts
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  await new Promise((closed) => server.close(closed))
  return typeof address === 'object' && address ? address.port : 0
}

/** Waits until ingest is at the head and the jobs have done their slots. Asks the database: the API is at rest. */
async function untilCaughtUp(clickhouse: ClickHouseClient): Promise<void> {
  for (;;) {
    await sleep(5000)
    const newest = await newestBlock(clickhouse)
    const isAtHead = newest !== null && Date.now() - newest.block_time.getTime() < AT_HEAD_MS
    const statuses = isAtHead ? await jobStatuses(clickhouse, { jobs: Object.keys(PERIOD_SECONDS) }) : []
    const isDone = statuses.every(
      ({ job, lag_seconds }) => (lag_seconds ?? Infinity) < PERIOD_SECONDS[job as JobName] + LOOK_SECONDS,
    )
    if (isAtHead && isDone) return
  }
}

const dir = await mkdtemp(join(tmpdir(), 'plumbline-at-rest-'))
const clickhousePort = await freePort()
const env = {
  DATA_DIR: dir,
  CLICKHOUSE_PORT: `${clickhousePort}`,
  CLICKHOUSE_PASSWORD: PASSWORD,
  DEVNET_PORT: '0',
  PORT: '0',
}
const service = await startProgram('local/main.js', env, 'open ').catch(async (error) => {
  await rm(dir, { recursive: true, force: true })
  throw error
})
try {
  const clickhouse = connect(
    {
      CLICKHOUSE_URL: `http://127.0.0.1:${clickhousePort}`,
      CLICKHOUSE_USER: 'default',
      CLICKHOUSE_PASSWORD: PASSWORD,
      CLICKHOUSE_DATABASE: (await readFile(join(dir, 'devnet.database'), 'utf8')).trim(),
    },
    { application: 'plumbline-bench' },
  )
  const root = service.child.pid as number
  const startedAt = performance.now()
  await untilCaughtUp(clickhouse)
  console.log(`caught up after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  await sleep(SETTLE_MINUTES * 60_000)

  const [before, from] = [usage(root), Date.now()]
  await sleep(MINUTES * 60_000)
  const [after, to] = [usage(root), Date.now()]
  const seconds = (to - from) / 1000

  let total = 0
  console.log(`at rest for ${MINUTES} min, ${Math.round((performance.now() - startedAt) / 60_000)} min after the start`)
  for (const [part, { cpuSeconds, residentMb, peakMb }] of after) {
    const share = (cpuSeconds - (before.get(part)?.cpuSeconds ?? 0)) / seconds
    total += share
    console.log(
      `${part.padEnd(8)} ${(share * 100).toFixed(1).padStart(5)} % of a core, ${residentMb.toFixed(0).padStart(5)} MB, at most ${peakMb.toFixed(0)} MB`,
    )
  }
  const memory = [...after.values()].reduce((sum, { residentMb }) => sum + residentMb, 0)
  console.log(`together ${(total * 100).toFixed(1).padStart(5)} % of a core, ${memory.toFixed(0).padStart(5)} MB`)

  await clickhouse.command({ query: 'SYSTEM FLUSH LOGS' })
  const statements = await rows<{ name: string; runs: number; ms: number; total: number }>(
    clickhouse,
    `SELECT if(log_comment = '', query_kind, log_comment) AS name, toUInt32(count()) AS runs,
            avg(query_duration_ms) AS ms, sum(query_duration_ms) / 1000 AS total
     FROM system.query_log
     WHERE event_time_microseconds BETWEEN fromUnixTimestamp64Milli(${from}) AND fromUnixTimestamp64Milli(${to})
     GROUP BY name ORDER BY runs DESC, name`,
  )
  const perMinute = (count: number): string => (count / (seconds / 60)).toFixed(1).padStart(7)
  const all = statements.reduce((sum, { runs }) => sum + runs, 0)
  const inserts = statements.filter(({ name }) => name.startsWith('insert_')).reduce((sum, { runs }) => sum + runs, 0)
  console.log(
    `${perMinute(all)} statements a minute, of which ${perMinute(inserts).trim()} are inserts; each with its mean time:`,
  )
  for (const { name, runs, ms } of statements) console.log(`${perMinute(runs)} ${name} ${ms.toFixed(1)} ms`)
  await clickhouse.close()
} finally {
  await service.stop()
  await rm(dir, { recursive: true, force: true })
}
