// GET /peg, live and as of any moment, against the raw-sample SQL for the same answer run on the engine itself, and against
// SELECT 1, which is what any statement takes.
import { deepStrictEqual } from 'node:assert'
import { Agent, request } from 'node:http'
import { LONGEST_WINDOW, WINDOW_SECONDS } from '../../oracle/peg-windows.js'
import { generatedStable, generateSamples } from './generate.js'
import { percentile } from './measure.js'
import { startProgram } from './programs.js'
import { rows, startStack } from './stack.js'

const STABLES = 8
const PER_SECOND = 2
const SECONDS = LONGEST_WINDOW
const ROUNDS = 150
/** Instants of each stable within the same ten minutes, no two of them the same. */
const NEAR = 20

type Window = Record<string, number | string | null>
type Answer = { current: { price_vs_refusd: number; block_number: number }; windows: Window[]; windows_as_of: string }

/** What an analyst would write over the samples: the current price and the windows, in one statement. */
const rawSql = (stable: string, asOf: number, windowsAsOf: number): string => `
  WITH [${Object.values(WINDOW_SECONDS)}] AS lengths, toDateTime(${windowsAsOf}, 'UTC') AS t
  SELECT transform(length, lengths, [${Object.keys(WINDOW_SECONDS).map((window) => `'${window}'`)}], '') AS window,
         count(sell_micros) AS sample_count, countIf(sell_micros IS NULL) AS unquoted_count,
         round(countIf(sell_micros IS NULL) / count(), 6) AS unquoted_share,
         intDiv(200 * sum(sell_micros) + count(sell_micros), 2 * count(sell_micros)) / 1e8 AS mean_price,
         round(sqrt(toFloat64(count(sell_micros) * sum(deviation * deviation) - sum(deviation) * sum(deviation))) / count(sell_micros) / 1e6, 8) AS stddev_price,
         min(sell_micros) / 1e6 AS min_price, max(sell_micros) / 1e6 AS max_price,
         max(abs(deviation)) / 100 AS max_deviation_bps,
         sumIf(least(elapsed_seconds, block_time - (t - length)), abs(deviation) > 1000) AS seconds_outside_10bps,
         sumIf(least(elapsed_seconds, block_time - (t - length)), abs(deviation) > 5000) AS seconds_outside_50bps,
         (SELECT (sell_micros / 1e6, toUInt32(block_number)) FROM peg_samples
          WHERE stable = '${stable}' AND block_time <= toDateTime(${asOf}, 'UTC') AND status IN ('quoted', 'anchor')
          ORDER BY block_time DESC, block_number DESC LIMIT 1) AS current
  FROM (SELECT *, toInt64(sell_micros) - 1000000 AS deviation FROM peg_samples) AS samples ARRAY JOIN lengths AS length
  WHERE stable = '${stable}' AND block_time <= t AND block_time > t - ${LONGEST_WINDOW} AND block_time > t - length
  GROUP BY length ORDER BY length`

const agent = new Agent({ keepAlive: true })

/** One request on a kept connection; milliseconds until the last byte, and the body. */
function fetchTimed(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ ms: number; body: string }> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    const sent = request(url, { agent, method: options.method ?? 'GET', headers: options.headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve({ ms: performance.now() - start, body })
        else reject(new Error(`${response.statusCode} ${body}`))
      })
    })
    sent.on('error', reject)
    sent.end(options.body)
  })
}

const stack = await startStack()
try {
  const { env, clickhouse } = await stack.database('peg')
  const end = Math.floor(Date.now() / 1000) - 1
  await generateSamples(clickhouse, { stables: STABLES, samples: SECONDS * PER_SECOND, perSecond: PER_SECOND, end })
  await clickhouse.command({ query: 'OPTIMIZE TABLE peg_samples FINAL' })
  await clickhouse.command({ query: 'OPTIMIZE TABLE peg_minutes FINAL' })
  await clickhouse.command({ query: 'SYSTEM REFRESH VIEW peg_windows_mv' })
  await clickhouse.command({ query: 'SYSTEM WAIT VIEW peg_windows_mv' })
  console.log((await rows(clickhouse, 'SELECT count() AS samples, uniqExact(stable) AS stables FROM peg_samples'))[0])

  const api = await startProgram('api/server.js', { ...env, PORT: '0', LOG_LEVEL: 'warn' }, 'api ready at ')
  const base = api.line.slice('api ready at '.length)
  const engine = `${env.CLICKHOUSE_URL}/?database=${env.CLICKHOUSE_DATABASE}&default_format=JSONEachRow`
  const headers = { 'X-ClickHouse-User': env.CLICKHOUSE_USER, 'X-ClickHouse-Key': env.CLICKHOUSE_PASSWORD }
  const raw = async (stable: string, asOf: number, windowsAsOf: number) => {
    const { ms, body } = await fetchTimed(engine, { method: 'POST', headers, body: rawSql(stable, asOf, windowsAsOf) })
    return {
      ms,
      windows: body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Window & { current: [number, number] }),
    }
  }

  const times = { live: [] as number[], liveRaw: [] as number[], asOf: [] as number[], asOfRaw: [] as number[] }
  const ones: number[] = []
  /** The first answer about the past of each stable, when nothing of it is kept. */
  const firsts: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const stable = generatedStable(round % STABLES)
    for (const kind of ['live', 'asOf'] as const) {
      // Any second of the last day: each has a full week behind it but for the hours before.
      const at = kind === 'live' ? end : end - 1 - ((round * 7919) % 86_400)
      const ours = await fetchTimed(`${base}/${stable}/peg${kind === 'asOf' ? `?as_of=${at}` : ''}`)
      const answer = JSON.parse(ours.body) as Answer
      const theirs = await raw(stable, at, Date.parse(answer.windows_as_of) / 1000)
      const [window] = theirs.windows
      deepStrictEqual([answer.current.price_vs_refusd, answer.current.block_number], window?.current)
      deepStrictEqual(
        answer.windows,
        theirs.windows.map(({ current: _, ...figures }) => ({ ...figures, ...numbers(figures) })),
      )
      if (kind === 'asOf' && round < STABLES) firsts.push(ours.ms)
      if (kind === 'asOf') ones.push((await fetchTimed(engine, { method: 'POST', headers, body: 'SELECT 1' })).ms)
      if (round < 10) continue
      times[kind].push(ours.ms)
      times[`${kind}Raw`].push(theirs.ms)
    }
  }
  const near: number[] = []
  for (let round = 0; round < NEAR * STABLES; round++) {
    const at = Math.floor(end / 600) * 600 - 7200 - ((round * 389) % 600)
    const { ms } = await fetchTimed(`${base}/${generatedStable(round % STABLES)}/peg?as_of=${at}`)
    near.push(ms)
    ones.push((await fetchTimed(engine, { method: 'POST', headers, body: 'SELECT 1' })).ms)
  }
  const one = percentile(ones, 0.5)
  console.log(
    `SELECT 1: p50 ${one.toFixed(1)} ms; GET /peg as_of ${(percentile(times.asOf, 0.5) / one).toFixed(2)} times that; the first of a stable ${(percentile(firsts, 0.5) / one).toFixed(2)}; ${NEAR} instants within ten minutes ${percentile(near, 0.5).toFixed(2)} ms: ${(percentile(near, 0.5) / one).toFixed(2)} (target: at most 1.5), p95 ${(percentile(near, 0.95) / one).toFixed(2)}`,
  )
  for (const kind of ['live', 'asOf'] as const) {
    const [ours, theirs] = [percentile(times[kind], 0.5), percentile(times[`${kind}Raw`], 0.5)]
    console.log(
      `${kind === 'live' ? 'GET /peg      ' : 'GET /peg as_of'}: p50 ${ours.toFixed(1)} ms, p99 ${percentile(times[kind], 0.99).toFixed(1)} ms; raw SQL p50 ${theirs.toFixed(1)} ms; ratio ${(ours / theirs).toFixed(2)} (target: at most 0.3); same digits in ${ROUNDS} of ${ROUNDS}`,
    )
  }
  await api.stop()
} finally {
  agent.destroy()
  await stack.close()
}

/** Counts come as text from the engine where they are 64 bits wide. */
function numbers(figures: Window): Window {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, name === 'window' || value === null ? value : Number(value)]),
  )
}
