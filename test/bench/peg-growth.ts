// GET /peg as of random moments of the last week, behind 1e6 to 1e9 samples of 14 stables, one a second each: twenty hours to two years
// and a quarter. node dist/test/bench/peg-growth.js [--sizes 1e7,1e9]
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import { connect } from '../../clickhouse/store/client.js'
import { generatedStable, generateSamples } from './generate.js'
import { percentile, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const { values: flags } = parseArgs({ options: { sizes: { type: 'string', default: '1e7,1e9' } } })
const sizes = flags.sizes.split(',').map(Number)
const STABLES = 14
const ROUNDS = 5
const ANSWERS = 60
const WEEK = 7 * 86_400

const end = Math.floor(Date.now() / 1000 / 3600) * 3600

const stack = await startStack()
try {
  const apps = []
  for (const size of sizes) {
    const { env } = await stack.database(`peg_${size}`)
    const clickhouse = connect(env, { application: 'plumbline-bench', requestTimeoutMs: 600_000 })
    const samples = Math.floor(size / STABLES)
    const filled = await timed(() => generateSamples(clickhouse, { stables: STABLES, samples, perSecond: 1, end }))
    const stored = await rows(
      clickhouse,
      `SELECT sum(rows) AS samples, count() AS parts FROM system.parts
       WHERE active AND database = currentDatabase() AND table = 'peg_samples'`,
    )
    console.log(size, JSON.stringify(stored), `${(filled / 1000).toFixed(0)} s`)
    const app = await buildApp({ clickhouse, now: () => new Date(end * 1000), logger: pino({ level: 'silent' }) })
    apps.push({ app, clickhouse, span: Math.min(WEEK, samples), p50s: [] as number[] })
  }
  for (let round = 0; round <= ROUNDS; round++)
    for (const { app, span, p50s } of apps) {
      const times: number[] = []
      for (let i = 0; i < ANSWERS; i++) {
        const as_of = end - 1 - (((round * ANSWERS + i) * 104_729) % span)
        const url = `/api/v1/stablecoins/${generatedStable(i % STABLES)}/peg?as_of=${as_of}`
        times.push(
          await timed(async () => {
            const { statusCode, body } = await app.inject(url)
            if (statusCode !== 200) throw new Error(`${url}: ${body}`)
          }),
        )
      }
      // The first round warms up.
      if (round > 0) p50s.push(percentile(times, 0.5))
    }
  const medians = apps.map(({ p50s }) => percentile(p50s, 0.5))
  for (const [i, { p50s }] of apps.entries())
    console.log(
      `${sizes[i]?.toExponential(0)} samples: p50 ${medians[i]?.toFixed(1)} ms (${ROUNDS} rounds in turns: ${p50s.map((p50) => p50.toFixed(1)).join(', ')})`,
    )
  console.log(
    `last to first: ${((medians.at(-1) as number) / (medians[0] as number)).toFixed(2)} (target: at most 1.3)`,
  )
  for (const { app, clickhouse } of apps) {
    await app.close()
    await clickhouse.close()
  }
} finally {
  await stack.close()
}
