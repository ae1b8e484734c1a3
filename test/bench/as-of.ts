// Every endpoint as of random moments of the last two weeks, behind histories of 1e6, 1e7 and 1e8 samples and as many
// flows (23 days to six years of 30 stables). node dist/test/bench/as-of.js [--sizes 1e6,1e7,1e8] [--rounds 40]
import { parseArgs } from 'node:util'
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
  for (const size of sizes) {
    const { clickhouse } = await stack.database(`as_of_${size}`)
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
      for (let round = 0; round < rounds + WARM_UP; round++) {
        const as_of = end - 1 - ((round * 104_729) % FORTNIGHT)
        const url = `/api/v1/${path.replace(':address', historyStable(round % HISTORY_STABLES))}?as_of=${as_of}`
        const ms = await timed(async () => {
          const { statusCode, body } = await app.inject(url)
          if (statusCode !== 200) throw new Error(`${url}: ${body}`)
        })
        if (round >= WARM_UP) times.push(ms)
      }
      p50s.set(path, [...(p50s.get(path) ?? []), percentile(times, 0.5)])
    }
    await app.close()
  }
  for (const [path, times] of p50s) {
    const each = times.map((ms, i) => `${ms.toFixed(1)} ms at ${sizes[i]?.toExponential(0)}`).join(', ')
    const growth = (times.at(-1) as number) / (times[0] as number)
    console.log(`${path.padEnd(33)} p50 ${each}: ${growth.toFixed(2)}x (target: at most 2)`)
  }
} finally {
  await stack.close()
}
