// A million flows as CSV and Parquet through the API, against the engine's own answer to the same SQL, each into a file.
import { createWriteStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { Agent, get, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertFacts } from '../../clickhouse/facts/facts.js'
import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import { generatedStable } from './generate.js'
import { median } from './measure.js'
import { startProgram } from './programs.js'
import { rows, startStack } from './stack.js'

const ROWS = 1_000_000
const STABLES = 50
const ROUNDS = 5
/** Those named in the command line, else the two that most will ask for. */
const FORMATS = process.argv.length > 2 ? process.argv.slice(2) : ['csv', 'parquet']

/** Flows of a busy day, every hash and account another. */
async function generateFlows(clickhouse: ClickHouseClient, end: number): Promise<void> {
  await insertFacts(
    clickhouse,
    'stablecoins',
    Array.from({ length: STABLES }, (_, i) => ({
      stable: generatedStable(i),
      symbol: `G${i}`,
      name: `Generated ${i}`,
      currency: 'USD',
      truncated: [],
      quote_token: REFERENCE_STABLE,
      admin: '',
      block_number: 0,
      log_index: i,
      block_time: end - 86_400,
      tx_hash: '',
    })),
    'generated',
  )
  const stable = (draw: string) => `concat('0x20c0', leftPad(lower(hex(toUInt8(1 + ${draw} % ${STABLES}))), 36, '0'))`
  await clickhouse.command({
    query: `
      INSERT INTO flows
      SELECT 'swap', ${stable('cityHash64(number)')} AS source, ${stable('cityHash64(number, 1)')} AS target,
             concat('0x', lower(hex(sipHash128(number))), '01234567'), cityHash64(number, 2) % 1000000000000, cityHash64(number, 3) % 1000000000000,
             cityHash64(number, 4) % 1000000000000, [source, target], intDiv(number, 6), number % 6,
             toDateTime(${end} - 86400 + intDiv(number * 86000, ${ROWS})),
             concat('0x', lower(hex(sipHash128(number, 5))), lower(hex(sipHash128(number, 6))))
      FROM numbers(${ROWS})`,
  })
}

const agent = new Agent({ keepAlive: true })

/** The body of an answer into a file; milliseconds until it is closed. */
async function download(url: string, file: string, options: RequestOptions = {}, body?: string): Promise<number> {
  const start = performance.now()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent =
      body === undefined ? get(url, { agent, ...options }, resolve) : request(url, { agent, ...options }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${(await response.toArray()).join('')}`)
  await pipeline(response, createWriteStream(file))
  return performance.now() - start
}

/** The very statement that the API has sent, as the engine's log has it. */
async function lastExport(clickhouse: ClickHouseClient): Promise<string> {
  await clickhouse.command({ query: 'SYSTEM FLUSH LOGS' })
  const [last] = await rows<{ query: string }>(
    clickhouse,
    "SELECT query FROM system.query_log WHERE log_comment = 'flow_rows' ORDER BY event_time_microseconds DESC LIMIT 1",
  )
  if (last === undefined) throw new Error('the API has sent no export')
  return last.query
}

/** What the API binds in that statement and sets for it. */
const engineParameters = (database: string, end: number): URLSearchParams =>
  new URLSearchParams({
    database,
    param_from: `${end - 86_400}`,
    param_to: `${end}`,
    param_after_block: '0',
    param_after_log: '0',
    param_last_block: `${Number.MAX_SAFE_INTEGER}`,
    param_last_log: '0',
    date_time_output_format: 'iso',
    output_format_json_quote_64bit_integers: '1',
    output_format_json_quote_decimals: '1',
    output_format_decimal_trailing_zeros: '1',
    output_format_parquet_row_group_size: '122880',
  })

/** Megabytes that a process has in memory. */
async function residentMb(pid: number | undefined): Promise<number> {
  const [, kb] = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

const stack = await startStack()
try {
  const { env, clickhouse } = await stack.database('export')
  const end = Math.floor(Date.now() / 1000) - 1
  await generateFlows(clickhouse, end)
  await clickhouse.command({ query: 'OPTIMIZE TABLE flows FINAL' })
  const api = await startProgram('api/server.js', { ...env, PORT: '0', LOG_LEVEL: 'warn' }, 'api ready at ')
  const base = api.line.slice('api ready at '.length)
  const headers = { 'X-ClickHouse-User': env.CLICKHOUSE_USER, 'X-ClickHouse-Key': env.CLICKHOUSE_PASSWORD }

  for (const format of FORMATS) {
    const ours = join(stack.dir, `ours.${format}`)
    const theirs = join(stack.dir, `theirs.${format}`)
    const times = { ours: [] as number[], theirs: [] as number[] }
    let peak = 0
    const before = await residentMb(api.child.pid)
    const watch = setInterval(() => void residentMb(api.child.pid).then((mb) => (peak = Math.max(peak, mb))), 20)
    for (let round = 0; round <= ROUNDS; round++) {
      const url = `${base}/flows/export?from=${end - 86_400}&to=${end}&limit=${ROWS}&format=${format}`
      const ms = await download(url, ours)
      const statement = await lastExport(clickhouse)
      const engineMs = await download(
        `${env.CLICKHOUSE_URL}/?${engineParameters(env.CLICKHOUSE_DATABASE, end)}`,
        theirs,
        { method: 'POST', headers },
        statement,
      )
      if (round === 0) continue
      times.ours.push(ms)
      times.theirs.push(engineMs)
    }
    clearInterval(watch)
    const mb = (await stat(ours)).size / 1e6
    const same = (await readFile(ours)).equals(await readFile(theirs))
    const [a, b] = [median(times.ours), median(times.theirs)]
    console.log(
      `${format}: ${mb.toFixed(0)} MB, ${((mb / a) * 1000).toFixed(0)} MB/s through the API, ${((mb / b) * 1000).toFixed(0)} MB/s from the engine; ratio ${(b / a).toFixed(2)} (target: at least 0.7); same bytes: ${same}; API memory ${before.toFixed(0)} MB before, at most ${peak.toFixed(0)} MB`,
    )
  }
  await api.stop()
} finally {
  agent.destroy()
  await stack.close()
}
