// What judging a user's statements costs: the same statements of an owner, whom nobody judges, and of a reader.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashPassword } from '../../local/engine/access/password.js'
import { spawnEmbedded } from '../../local/engine/spawn.js'
import { percentile, timed } from './measure.js'

const ROUNDS = 10
const PER_ROUND = 100

const table = `CREATE TABLE samples (stable LowCardinality(String), block_time DateTime('UTC'), sell_micros Nullable(UInt32))
  ENGINE = MergeTree ORDER BY (stable, block_time)`
const rows = `INSERT INTO samples SELECT concat('s', toString(number % 8)), number, 1000000 + number % 7 FROM numbers(1000000)`
const peg = `
  WITH [3600, 86400, 604800] AS lengths
  SELECT length, count(sell_micros) AS quoted, countIf(sell_micros IS NULL) AS unquoted, sum(deviation) AS deviation_sum,
         sum(deviation * deviation) AS square_sum, min(deviation), max(deviation), sumIf(1, abs(deviation) > 1000) AS outside
  FROM (SELECT *, toInt64(sell_micros) - 1000000 AS deviation FROM samples) AS s ARRAY JOIN lengths AS length
  WHERE stable = {stable: String} AND block_time <= {t: DateTime} AND block_time > {t: DateTime} - length
  GROUP BY length ORDER BY length`

/** `repeated` are statements that clients send again and again; `new` has another text each time. */
const kinds: Record<string, (n: number) => { sql: string; params: string }> = {
  'SELECT 1          ': () => ({ sql: 'SELECT 1', params: '' }),
  'peg query         ': (n) => ({ sql: peg, params: `&param_stable=s${n % 8}&param_t=${900_000 + n}` }),
  'SELECT 1, new text': (n) => ({ sql: `SELECT 1 AS one_${n}`, params: '' }),
}

const dir = await mkdtemp(join(tmpdir(), 'plumbline-bench-'))
const usersFile = join(dir, 'users.json')
const reader = { name: 'reader', ...hashPassword('bench'), readonly: 2 }
await writeFile(usersFile, JSON.stringify({ users: [reader] }), { mode: 0o600 })
const engine = await spawnEmbedded({
  dataDir: join(dir, 'data'),
  user: 'default',
  password: 'bench',
  env: { CLICKHOUSE_USERS_FILE: usersFile },
})
const agent = new Agent({ keepAlive: true })

function ask(user: string, { sql, params }: { sql: string; params: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': 'bench' }
    const sent = request(`${engine.url}/?max_threads=1${params}`, { agent, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`${sql} failed`))))
    })
    sent.on('error', reject)
    sent.end(sql)
  })
}

try {
  for (const sql of [table, rows, 'OPTIMIZE TABLE samples FINAL']) await ask('default', { sql, params: '' })
  let texts = 0
  for (const [name, statement] of Object.entries(kinds)) {
    const times: Record<string, number[]> = { default: [], reader: [] }
    // Side by side, so that what else the machine does weighs on both alike; the first round is for warming up.
    for (let round = 0; round <= ROUNDS; round++) {
      for (let i = 0; i < PER_ROUND; i++) {
        for (const user of i % 2 === 0 ? ['default', 'reader'] : ['reader', 'default']) {
          const one = statement(++texts)
          const ms = await timed(() => ask(user, one))
          if (round > 0) times[user]?.push(ms)
        }
      }
    }
    const [owner, judged] = [percentile(times.default ?? [], 0.5), percentile(times.reader ?? [], 0.5)]
    const figures = `owner ${owner.toFixed(2)} ms, judged ${judged.toFixed(2)} ms, ${(judged - owner).toFixed(2)} ms more`
    console.log(`${name} p50: ${figures}, ratio ${(judged / owner).toFixed(2)}`)
  }
} finally {
  await engine.stop()
  agent.destroy()
  await rm(dir, { recursive: true, force: true })
}
