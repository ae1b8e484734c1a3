// The z-scores of all edges for one window: from the 15-minute buckets, as the detector asks, and from the flows.
import { deepStrictEqual } from 'node:assert'
import { flowZScores } from '../../clickhouse/flows/scores.js'
import { connect } from '../../clickhouse/store/client.js'
import { median, timed } from './measure.js'
import { rows, startStack } from './stack.js'

const EDGES = 1000
const FLOWS = 10_000_000
const DAY = 86_400
const BASELINE = 7 * DAY
const ROUNDS = 40
const RAW_ROUNDS = 2
/** Every edge is scored, and every score comes back. */
const MIN_ABS_Z = 0

/** What an analyst would write over the flows. */
const rawSql = (scored: number): string => `
  SELECT from_token, to_token, toString(sumIf(value, window = ${scored})) AS observed_micros,
         toString(sumIf(value, window < ${scored})) AS total,
         (toFloat64(sumIf(value, window = ${scored})) - avgIf(toFloat64(value), window < ${scored}))
           / stddevPopStableIf(toFloat64(value), window < ${scored}) AS z
  FROM
  (
      SELECT from_token, to_token, intDiv(toUnixTimestamp(block_time), 900) * 900 AS window, sum(usd_micros) AS value
      FROM flows
      WHERE block_time >= toDateTime(${scored - BASELINE}, 'UTC') AND block_time < toDateTime(${scored + 900}, 'UTC')
      GROUP BY from_token, to_token, window
  )
  GROUP BY from_token, to_token
  ORDER BY from_token, to_token`

const stack = await startStack()
try {
  const { env, clickhouse } = await stack.database('z_scores')
  const scored = Math.floor(Date.now() / 900_000) * 900 - 900
  const first = scored - BASELINE
  // In portions, in the order of time as ingest writes them.
  const portions = 20
  for (let portion = 0; portion < portions; portion++) {
    const size = FLOWS / portions
    await clickhouse.command({
      query: `
        INSERT INTO flows (kind, from_token, to_token, account, amount_in_raw, amount_out_raw, usd_micros, path, block_number, log_index, block_time, tx_hash)
        SELECT 'swap', '0x20c0' || leftPad(lower(hex(edge)), 36, '0'), '0x20c1' || leftPad(lower(hex(edge)), 36, '0'), '', 0, 0,
               1000000 + cityHash64(n) % 100000000, [], intDiv(n, 16), n % 16,
               toDateTime(${first} + intDiv(n * ${BASELINE + 900}, ${FLOWS}), 'UTC'), hex(sipHash128(n))
        FROM (SELECT number + ${portion * size} AS n, cityHash64(n, 7) % ${EDGES} AS edge FROM numbers(${size}))`,
      clickhouse_settings: { max_insert_block_size: '1048576' },
    })
  }
  const [tables] = await rows<{ flows: string; buckets: string; parts: string }>(
    clickhouse,
    `SELECT (SELECT count() FROM flows) AS flows, (SELECT count() FROM flow_buckets) AS buckets,
            (SELECT count() FROM system.parts WHERE active AND database = currentDatabase() AND table = 'flow_buckets') AS parts`,
  )
  console.log(tables)

  // A session on one core.
  const oneCore = connect(env, {
    application: 'plumbline-bench',
    maxOpenConnections: 1,
    sessionId: 'one-core',
    requestTimeoutMs: 300_000,
  })
  await oneCore.command({ query: 'SET max_threads = 1' })
  const query = { window_start: new Date(scored * 1000), min_abs_z: MIN_ABS_Z, read_since: 0 }
  const ours = await flowZScores(oneCore, query)
  const theirs = await rows<{ observed_micros: string; total: string }>(oneCore, rawSql(scored))
  deepStrictEqual(ours.length, EDGES)
  deepStrictEqual(
    ours.map(({ observed_micros, baseline_sum }) => [observed_micros, baseline_sum]),
    theirs.map(({ observed_micros, total }) => [observed_micros, total]),
  )
  const measure = async (): Promise<number[]> => {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) times.push(await timed(() => flowZScores(oneCore, query)))
    return times
  }
  const inserted = await measure()
  // As a week of buckets is in the long run, but for its newest ones.
  await clickhouse.command({ query: 'OPTIMIZE TABLE flow_buckets FINAL' })
  const buckets = await measure()
  const raw: number[] = []
  for (let round = 0; round < RAW_ROUNDS; round++) {
    raw.push(await timed(() => rows(oneCore, rawSql(scored))))
  }
  await oneCore.close()
  const ratio = median(raw) / median(buckets)
  const shown = (times: number[]) => `p50 ${median(times).toFixed(1)} ms, best ${Math.min(...times).toFixed(1)} ms`
  console.log(
    `z-scores of ${EDGES} edges on one core: ${shown(buckets)} (target: p50 at most 50); as inserted just now ${shown(inserted)}`,
  )
  console.log(`from ${FLOWS / 1e6} M flows: ${shown(raw)}; ratio ${ratio.toFixed(0)} (target: at least 20)`)
} finally {
  await stack.close()
}
