// Every endpoint as of random moments of the last two weeks, behind histories of 1e6, 1e7 and 1e8 samples and as many
// flows (23 days to six years of 30 stables). Of the three slowest, the statements of an answer. node dist/test/bench/as-of.js [--sizes 1e6,1e7,1e8] [--rounds 40]
import { parseArgs } from 'node:util'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import { generateHistory, HISTORY_STABLES, historyStable } from './history.js'
import { percentile, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: { sizes: { type: 'string', default: '1e6,1e7,1e8' }, rounds: { type: 'string', default: '40' } },
})
const [sizes, rounds] = [flags.sizes.split(',').map(Number), Number(flags.rounds)]
const WARM_UP = 5
const FORTNIGHT = 14 * 86_400

/** Endpoints whose statements are printed. */
const PROFILED = 3

const end = Math.floor(Date.now() / 1000 / 3600) * 3600

const PATHS = [
  'stablecoins',
  'stablecoins/:address',
  'stablecoins/:address/peg',
  'stablecoins/:address/peg-events',
  'stablecoins/:address/risk',
  'stablecoins/:address/rewards',
  'stablecoins/:address/reserves',
  'stablecoins/:address/roles',
  'stablecoins/:address/depth',
  'stablecoins/flows',
  'stablecoins/flow-anomalies',
  'fee-economics/overview',
]

const stack = await startStack()
try {
  const p50s = new Map<string, number[]>()
  const cpuOf = new Map<string, number>()
  const spans = new Map<string, { from: number; to: number }>()
  let last: ClickHouseClient | undefined
  for (const size of sizes) {
    const { clickhouse } = await stack.database(`as_of_${size}`)
    last = clickhouse
    const filled = await timed(() => generateHistory(clickhouse, size, end))
    const [count] = await rows(
      clickhouse,
      'SELECT (SELECT count() FROM peg_samples) AS samples, (SELECT count() FROM flows) AS flows',
    )
    console.log(JSON.stringify(count), `${(filled / 1000).toFixed(0)} s`)
    // As a history is that has been there for a while; the newest rows of a live one are in parts of their own.
    for (const table of ['peg_samples', 'peg_minutes', 'flows', 'flow_buckets'])
      await clickhouse.command({ query: `OPTIMIZE TABLE ${table}` }).catch(() => {})
    const app = await buildApp({ clickhouse, now: () => new Date(end * 1000), logger: pino({ level: 'silent' }) })
    for (const path of PATHS) {
      const times: number[] = []
      const [from, own] = [Date.now(), process.cpuUsage()]
      for (let round = 0; round < rounds + WARM_UP; round++) {
        const as_of = end - 1 - ((round * 104_729) % FORTNIGHT)
        const url = `/api/v1/${path.replace(':address', historyStable(round % HISTORY_STABLES))}?as_of=${as_of}`
        const ms = await timed(async () => {
          const { statusCode, body } = await app.inject(url)
          if (statusCode !== 200) throw new Error(`${url}: ${body}`)
        })
        if (round >= WARM_UP) times.push(ms)
      }
      const { user, system } = process.cpuUsage(own)
      cpuOf.set(path, (user + system) / 1000 / (rounds + WARM_UP))
      spans.set(path, { from, to: Date.now() })
      p50s.set(path, [...(p50s.get(path) ?? []), percentile(times, 0.5)])
    }
    await app.close()
  }
  for (const [path, times] of p50s) {
    const each = times.map((ms, i) => `${ms.toFixed(1)} ms at ${sizes[i]?.toExponential(0)}`).join(', ')
    const growth = (times.at(-1) as number) / (times[0] as number)
    console.log(`${path.padEnd(33)} p50 ${each}: ${growth.toFixed(2)}x (target: at most 2)`)
  }
  const bySpeed = [...p50s.keys()].sort((a, b) => (p50s.get(b)?.at(-1) ?? 0) - (p50s.get(a)?.at(-1) ?? 0))
  for (const path of bySpeed.slice(0, PROFILED)) await printStatements(last as ClickHouseClient, path)

  /** What an answer of a path asked the engine for, at the last size. */
  async function printStatements(clickhouse: ClickHouseClient, path: string): Promise<void> {
    const { from, to } = spans.get(path) as { from: number; to: number }
    await clickhouse.command({ query: 'SYSTEM FLUSH LOGS' })
    const statements = await rows<{ name: string; runs: number; ms: number; read: number }>(
      clickhouse,
      `SELECT log_comment AS name, toUInt32(count()) AS runs, median(query_duration_ms) AS ms, toUInt32(median(read_rows)) AS read
       FROM system.query_log
       WHERE event_time_microseconds BETWEEN fromUnixTimestamp64Milli(${from}) AND fromUnixTimestamp64Milli(${to})
         AND type = 'QueryFinish' AND log_comment != ''
       GROUP BY name ORDER BY runs * ms DESC`,
    )
    console.log(`${path}: ${cpuOf.get(path)?.toFixed(1)} ms of CPU of the API an answer; its statements:`)
    for (const { name, runs, ms, read } of statements)
      console.log(`  ${(runs / (rounds + WARM_UP)).toFixed(2)} ${name} p50 ${ms.toFixed(0)} ms, ${read} rows read`)
  }
} finally {
  await stack.close()
}
