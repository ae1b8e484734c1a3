// The robust scores of all edges for one window, as the API computes them, beside today's z-scores in the same run, and
// how many ordinary trades on edges that rarely trade each of them would flag.
import { edgeScores } from '../../clickhouse/flows/edge-scores.js'
import { edgeWindows } from '../../clickhouse/flows/edge-windows.js'
import { flowZScores } from '../../clickhouse/flows/scores.js'
import { connect } from '../../clickhouse/store/client.js'
import { median, percentile, timed } from './measure.js'
import { statsOf } from './process-stats.js'
import { type Database, rows, startStack } from './stack.js'

const EDGES = 1024
const WINDOW = 900
const DAY = 86_400
const WEEK = 7 * DAY
const ROUNDS = 20
const MARKETS = 6
/** Windows that are scored of each market. */
const SCORED = 12
/** Windows before the baseline, so that every edge has begun. */
const BEFORE = 300
const BURSTS = 8
/** Windows that are inserted at once. */
const PORTION = 200

const COLUMNS =
  '(kind, from_token, to_token, account, amount_in_raw, amount_out_raw, usd_micros, path, block_number, log_index, block_time, tx_hash)'
const token = (side: number, edge: string): string => `'0x20c${side}' || leftPad(lower(hex(${edge})), 36, '0')`

/** A uniform number above 0 and below 1 that depends on these expressions. */
const uniform = (...keys: (string | number)[]): string =>
  `((cityHash64(${keys.join(', ')}) % 1000000007 + 1) / 1000000009)`

/**
 * Flows of whole windows from `first` on, `windows` for each edge. `activity` is the probability of a window with a flow;
 * volumes are log-normal around a size of the edge's own, of a deviation of its own.
 */
async function fill(
  { clickhouse }: Database,
  { first, windows, seed, activity }: { first: number; windows: number; seed: number; activity: string },
): Promise<void> {
  const normal = `sqrt(-2 * log(${uniform(seed, 'edge', 'n', '1')})) * cos(6.283185307179586 * ${uniform(seed, 'edge', 'n', '2')})`
  for (let from = 0; from < windows; from += PORTION)
    await clickhouse.command({
      query: `
      INSERT INTO flows ${COLUMNS}
      WITH ${activity} AS activity, 5 + 9 * ${uniform(seed, 'edge', '3')} AS size, 0.2 + 1.3 * ${uniform(seed, 'edge', '4')} AS deviation
      SELECT 'swap', ${token(0, 'edge')}, ${token(1, 'edge')}, '', 0, 0, toUInt128(1000000 * exp(size + deviation * ${normal})), [],
             n, edge, toDateTime(${first} + n * ${WINDOW} + 450, 'UTC'), hex(sipHash128(n, edge))
      FROM (SELECT intDiv(number, ${EDGES}) AS n, number % ${EDGES} AS edge FROM numbers(${from * EDGES}, ${Math.min(PORTION, windows - from) * EDGES}))
      WHERE ${uniform(seed, 'edge', 'n', '5')} < activity`,
      clickhouse_settings: { max_partitions_per_insert_block: '1000' },
    })
}

const share = (part: number, of: number): string => `${part} of ${of}: ${((100 * part) / of).toFixed(3)} %`

const stack = await startStack()
try {
  const scored = Math.floor(Date.now() / 900_000) * WINDOW - WINDOW
  const dense = await stack.database('dense')
  await fill(dense, { first: scored - WEEK, windows: 673, seed: 1, activity: '0.97' })
  await dense.clickhouse.command({ query: 'OPTIMIZE TABLE flow_buckets FINAL' })
  const oneCore = connect(dense.env, {
    application: 'plumbline-bench',
    maxOpenConnections: 1,
    sessionId: 'one-core',
    requestTimeoutMs: 300_000,
  })
  await oneCore.command({ query: 'SET max_threads = 1' })
  const window_start = new Date(scored * 1000)
  const robust = async () => edgeScores(await edgeWindows(oneCore, { window_start, read_since: 0 }), window_start)
  const today = () => flowZScores(oneCore, { window_start, min_abs_z: 0, read_since: 0 })
  const times: { robust: number[]; today: number[] } = { robust: [], today: [] }
  const cpu = { robust: 0, today: 0 }
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of [
      ['today', today],
      ['robust', robust],
    ] as const) {
      const before = statsOf(stack.pid).cpuSeconds
      times[name].push(await timed(work))
      cpu[name] += statsOf(stack.pid).cpuSeconds - before
    }
  await oneCore.close()
  const shown = (all: number[]): string =>
    `p50 ${median(all).toFixed(1)} ms, p95 ${percentile(all, 0.95).toFixed(1)} ms, best ${Math.min(...all).toFixed(1)} ms`
  console.log(
    `${EDGES} edges, seven days, one core: today's z-scores ${shown(times.today)}; robust scores ${shown(times.robust)}; ratio of the medians ${(median(times.robust) / median(times.today)).toFixed(2)}, of the engine's CPU time ${(cpu.robust / cpu.today).toFixed(2)}`,
  )

  const found = { trades: 0, z: 0, surges: 0, q: 0, windows: 0, windowsQ: 0, bursts: 0, burstsQ: 0, burstsSurge: 0 }
  for (let market = 1; market <= MARKETS; market++) {
    const sparse = await stack.database(`sparse_${market}`)
    // Active in 1.5 to 10 % of windows: 10 to 67 of a week's.
    const activity = `0.015 + 0.085 * ${uniform(market, 'edge', '6')}`
    await fill(sparse, {
      first: scored - WEEK - (SCORED + BEFORE) * WINDOW,
      windows: 672 + SCORED + BEFORE + 1,
      seed: 100 + market,
      activity,
    })
    const { clickhouse } = sparse
    for (let i = 1; i <= SCORED; i++) {
      const at = scored - (SCORED - i) * WINDOW
      const start = new Date(at * 1000)
      const params = { window_start: start, read_since: 0 }
      const scores = edgeScores(await edgeWindows(clickhouse, params), start)
      const anomalies = await flowZScores(clickhouse, { ...params, min_abs_z: 3 })
      const byZ = await rows<{ edge: string }>(
        clickhouse,
        `WITH 672 AS n
         SELECT from_token AS edge, maxIf(toFloat64(volume_micros), window_start = toDateTime(${at}, 'UTC')) AS x,
                sumIf(toFloat64(volume_micros), window_start < toDateTime(${at}, 'UTC')) / n AS mean,
                sqrt(sumIf(pow(toFloat64(volume_micros), 2), window_start < toDateTime(${at}, 'UTC')) / n - mean * mean) AS deviation
         FROM flow_buckets FINAL WHERE window_start >= toDateTime(${at - WEEK}, 'UTC') AND window_start <= toDateTime(${at}, 'UTC')
         GROUP BY edge HAVING abs(x - mean) >= 3 * deviation AND x > 0`,
      )
      const zs = new Set(byZ.map(({ edge }) => edge))
      const surges = new Set(anomalies.filter(({ kind }) => kind === 'surge').map(({ from_token }) => from_token))
      for (const { p_value, q_value, silent_windows, from_address } of scores) {
        if (p_value === null) continue
        found.windows++
        if ((q_value as number) <= 0.01) found.windowsQ++
        if (silent_windows !== null) continue
        found.trades++
        if (zs.has(from_address)) found.z++
        if (surges.has(from_address)) found.surges++
        if ((q_value as number) <= 0.01) found.q++
      }
    }
    // A trade of 100 times the usual size on some edges, in a window of its own.
    const after = scored + WINDOW
    await clickhouse.command({
      query: `
        INSERT INTO flows ${COLUMNS}
        SELECT 'swap', ${token(0, 'edge')}, ${token(1, 'edge')}, '', 0, 0, toUInt128(100000000 * exp(5 + 9 * ${uniform(100 + market, 'edge', '3')})), [],
               1000000, edge, toDateTime(${after + 450}, 'UTC'), hex(sipHash128(1000000, edge))
        FROM (SELECT cityHash64(number, ${market}) % ${EDGES} AS edge FROM numbers(${BURSTS}))`,
    })
    const start = new Date(after * 1000)
    const burst = edgeScores(await edgeWindows(clickhouse, { window_start: start, read_since: 0 }), start)
    const active = burst.filter(({ p_value, silent_windows }) => p_value !== null && silent_windows === null)
    found.bursts += active.length
    found.burstsQ += active.filter(({ q_value }) => (q_value as number) <= 0.01).length
    found.burstsSurge += (await flowZScores(clickhouse, { window_start: start, min_abs_z: 3, read_since: 0 })).filter(
      ({ kind }) => kind === 'surge',
    ).length
    await clickhouse.command({ query: `DROP DATABASE sparse_${market} SYNC` })
  }
  console.log(
    `ordinary trades on ${EDGES} edges active in 1.5 to 10 % of windows, ${MARKETS} markets, ${SCORED} windows each:`,
  )
  console.log(`|z_score| >= 3: ${share(found.z, found.trades)}`)
  console.log(`surges of flow-anomalies: ${share(found.surges, found.trades)}`)
  console.log(
    `q_value <= 0.01: ${share(found.q, found.trades)}; of all windows ${share(found.windowsQ, found.windows)}`,
  )
  console.log(
    `trades of 100 times the usual size: q_value <= 0.01 ${share(found.burstsQ, found.bursts)}; surges ${share(found.burstsSurge, found.bursts)}`,
  )
} finally {
  await stack.close()
}
