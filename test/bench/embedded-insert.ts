// Two million rows by stream over HTTP against INFILE on the engine in process, and what the gateway holds meanwhile.
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { defaultMaxConcurrentQueries, threadsFor } from '../../local/engine/threads.js'
import { InProcess } from './in-process.js'
import { median, timed } from './measure.js'

const ROWS = 2_000_000
const ROUNDS = 5
const formats = ['JSONEachRow', 'RowBinary', 'Native', 'Parquet']
const columns = 'block UInt64, token String, deviation Int32, price Float64, t DateTime'
const table = `CREATE TABLE samples (${columns}) ENGINE = MergeTree ORDER BY (token, block)`
const rows = `SELECT number AS block, concat('0x', hex(number % 40)) AS token, toInt32(number % 2001 - 1000) AS deviation,
  1 + deviation / 1e6 AS price, toDateTime(1700000000 + intDiv(number, 2)) AS t FROM numbers(${ROWS})`

const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
const engine = await spawnEmbedded({ dataDir: join(dir, 'http'), user: 'default', password: 'bench' })
const inProcess = await InProcess.start(join(dir, 'in-process'), threadsFor(defaultMaxConcurrentQueries))
const agent = new Agent({ keepAlive: true })

/** Sends a file, or nothing, behind a statement; resolves with the answer, of which nothing is read yet. */
function post(query: string, file?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'bench' }
    const url = `${engine.url}/?query=${encodeURIComponent(query)}`
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`${query}: ${response.statusCode} ${response.headers['x-clickhouse-exception-code']}`))
    })
    sent.on('error', reject)
    if (file === undefined) sent.end()
    else pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), sent).catch(reject)
  })
}

const command = async (query: string, file?: string): Promise<void> => {
  for await (const _ of await post(query, file)) void _
}

const residentMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${engine.pid}/status`, 'utf8'))?.[1]) / 1024

try {
  await command(table)
  await inProcess.each([table])
  for (const format of formats) {
    const file = join(dir, `rows.${format}`)
    await pipeline(await post(`${rows} FORMAT ${format}`), createWriteStream(file))
    const times = { http: [] as number[], own: [] as number[] }
    let [before, peak] = [0, 0]
    for (let round = 0; round <= ROUNDS; round++) {
      await command('TRUNCATE TABLE samples')
      await inProcess.each(['TRUNCATE TABLE samples'])
      const insert = `INSERT INTO samples FROM INFILE '${file}' COMPRESSION 'none' FORMAT ${format}`
      const own = await timed(() => inProcess.each([insert]))
      before = Math.max(before, residentMb())
      const watch = setInterval(() => {
        peak = Math.max(peak, residentMb())
      }, 10)
      const http = await timed(() => command(`INSERT INTO samples FORMAT ${format}`, file))
      clearInterval(watch)
      if (round === 0) continue
      times.http.push(http)
      times.own.push(own)
    }
    const answer = await post('SELECT count() FROM samples')
    let count = ''
    for await (const chunk of answer) count += chunk
    if (Number(count) !== ROWS) throw new Error(`${format}: ${count} rows`)
    const rate = (values: number[]) => ROWS / 1000 / median(values)
    const mb = (await stat(file)).size / 1e6
    console.log(
      `${format.padEnd(11)}: ${rate(times.http).toFixed(2)} M rows/s (${mb.toFixed(0)} MB), INFILE in process ${rate(times.own).toFixed(2)}, ratio ${(rate(times.http) / rate(times.own)).toFixed(2)} (target: at least 0.8); gateway ${before.toFixed(0)} MB before, at most ${peak.toFixed(0)} MB meanwhile`,
    )
  }
} finally {
  agent.destroy()
  await inProcess.stop()
  await engine.stop()
  await rm(dir, { recursive: true, force: true })
}
