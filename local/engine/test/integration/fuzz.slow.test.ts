import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { depth } from '../../../../test/support/depth.js'
import { basic, httpTo, runningQueries, start, withDirectory } from './engine.js'
import { type Body, makeCorpus } from './fuzz/corpus.js'
import { hostileText, mutate, secret } from './fuzz/hostile.js'
import { Random } from './fuzz/random.js'
import { echo, statement } from './fuzz/statements.js'
import { type Ask, abandon, agent, exchange, type Outcome, onTheWire, raw } from './fuzz/wire.js'

/** Number of requests: 100,000 for the full run. The same seed and first number repeat the same requests. */
const requests = depth('FUZZ_REQUESTS', 1_500, 100_000)
// A fixed seed: the engine's readers have faults of their own, which must not fail a change here by chance.
const seed = Number(process.env.FUZZ_SEED ?? 4242)
const first = Number(process.env.FUZZ_FIRST ?? 0)
const atOnce = 16

const limits = { max_execution_time: '3', max_memory_usage: '400000000' }

type Fuzz = { url: URL; directory: string; corpus: Body[]; stored: Map<Body, { sure: number; perhaps: number }> }

const randomHeaders = (random: Random, directory: string): Record<string, string> => {
  const text = () => hostileText(random, directory).replace(/[^\x20-\x7e]/g, '_')
  const headers: Record<string, string> = { ...basic }
  if (random.chance(0.2))
    headers['Accept-Encoding'] = random.pick(['gzip', 'deflate', 'br', 'zstd', 'lz4', 'zap', 'gzip, br', text()])
  if (random.chance(0.05)) headers['X-ClickHouse-Database'] = random.pick(['fuzz', 'system', 'nowhere', text()])
  if (random.chance(0.05)) headers['X-ClickHouse-Format'] = random.pick(['JSON', 'CSV', 'Nope', text()])
  if (random.chance(0.03))
    headers['Content-Type'] = random.pick([
      'text/plain',
      'multipart/form-data; boundary=x',
      'multipart/form-data',
      text(),
    ])
  if (random.chance(0.02)) headers.Authorization = random.pick(['Basic ???', 'Bearer x', text()])
  if (random.chance(0.03)) headers.Connection = 'close'
  if (random.chance(0.05)) headers['User-Agent'] = text()
  return headers
}

const randomUrl = (random: Random, directory: string): Record<string, string> => {
  const text = () => hostileText(random, directory)
  const url: Record<string, string> = { ...limits }
  if (random.chance(0.1)) url.default_format = random.pick(['JSON', 'Native', 'Nope', text()])
  if (random.chance(0.1)) url.session_id = `s${random.int(5)}`
  if (random.chance(0.03)) url.session_check = '1'
  if (random.chance(0.05)) url.query_id = random.pick([`q${random.int(3)}`, text()])
  if (random.chance(0.05)) url.wait_end_of_query = '1'
  if (random.chance(0.05)) url.send_progress_in_http_headers = '1'
  if (random.chance(0.05)) url.database = random.pick(['fuzz', 'system', text()])
  if (random.chance(0.1)) url.log_comment = text()
  if (random.chance(0.05)) url.param_p = text()
  if (random.chance(0.03)) url[text()] = text()
  if (random.chance(0.03)) url.readonly = random.pick(['0', '1', '2', 'x'])
  if (random.chance(0.03)) url[random.pick(['compress', 'decompress'])] = '1'
  return url
}

/** Sends a body in one piece or many, at once or slowly. */
function parts(random: Random, body: Buffer): { parts: Buffer[]; pause: () => number } {
  const pauses = random.pick([[0], [0], [0, 1, 5], [0, 30]])
  const pause = () => random.pick(pauses)
  if (random.chance(0.6)) return { parts: [body], pause }
  const cuts = random.times(1 + random.int(4), () => random.int(body.length + 1)).sort((a, b) => a - b)
  return { parts: [0, ...cuts].map((from, i) => body.subarray(from, cuts[i] ?? body.length)), pause }
}

/** Random SQL, sent in every possible way. */
async function askStatement(random: Random, { url, directory }: Fuzz): Promise<Outcome> {
  const sql = statement(random, directory)
  const inUrl = random.chance(0.5)
  let body: Buffer = Buffer.from(inUrl ? '' : sql)
  if (!inUrl && random.chance(0.1)) body = Buffer.concat([body, Buffer.from([0xff, 0xfe, random.int(256)])])
  const headers = randomHeaders(random, directory)
  if (random.chance(0.1)) {
    headers['Content-Encoding'] = random.pick(['gzip', 'deflate', 'br', 'zstd', 'lz4', 'zap'])
    if (random.chance(0.5)) body = gzipSync(body)
    if (random.chance(0.3)) body = mutate(random, body)
  }
  const ask: Ask = {
    url: { ...randomUrl(random, directory), ...(inUrl && { query: sql }) },
    body,
    headers,
    method: random.pick(['POST', 'POST', 'POST', 'GET']),
  }
  if (ask.method === 'GET') ask.body = Buffer.alloc(0)
  // Endless queries end at their time limit; most clients disconnect sooner.
  if (sql.includes('system.numbers') || random.chance(0.15)) return abandon(url, ask, random)
  const { parts: pieces, pause } = parts(random, ask.body)
  return exchange(url, ask, ask.method === 'GET' ? [] : pieces, pause)
}

/** A string in a statement is returned unchanged, whatever it contains. */
async function askEcho(random: Random, { url, directory }: Fuzz): Promise<Outcome> {
  const { sql, url: params, hex } = echo(random, directory)
  const inUrl = random.chance(0.5)
  const ask: Ask = {
    url: { ...limits, ...params, ...(inUrl && { query: sql }) },
    body: Buffer.from(inUrl ? '' : sql),
    headers: { ...basic },
    method: 'POST',
  }
  const outcome = await exchange(url, ask, [ask.body], () => 0)
  // A few characters are refused outside of quotes, and NUL never silently ends a statement.
  if (outcome.status === 200) expect(outcome.body.toString(), sql).toBe(`${hex}\n`)
  else expect(['62', '202', '48'], `${sql}: ${outcome.body}`).toContain(outcome.code)
  return outcome
}

/** Rows as the engine wrote them: stored exactly once if acknowledged, not at all if truncated. */
async function insertExactly(random: Random, { url, corpus, stored }: Fuzz): Promise<Outcome> {
  const body = random.pick(corpus)
  const sql = `INSERT INTO fuzz.kept FORMAT ${body.format}`
  const isIdentity = body.encoding === 'identity'
  const inBody = isIdentity && random.chance(0.4)
  const bytes = inBody ? Buffer.concat([Buffer.from(`${sql}\n`), body.bytes]) : body.bytes
  const headers: Record<string, string> = { ...basic }
  if (!isIdentity) headers['Content-Encoding'] = body.encoding
  const ask: Ask = { url: { ...(!inBody && { query: sql }) }, body: bytes, headers, method: 'POST' }
  const count = stored.get(body) ?? { sure: 0, perhaps: 0 }
  stored.set(body, count)
  const kind = random.int(10)
  let outcome: Outcome
  if (kind < 7) {
    const { parts: pieces, pause } = parts(random, bytes)
    outcome = await exchange(url, ask, pieces, pause)
    if (outcome.status === 200) count.sure++
    else expect(outcome.code, `${body.format} ${body.encoding}: ${outcome.body}`).toBe('202')
  } else if (kind < 9) {
    outcome = await abandon(url, ask, random)
    if (outcome.isSent) count.perhaps++
  } else {
    // A body truncated in its encoding is corrupt, not short.
    if (isIdentity) return outcomeOfNothing
    ask.body = bytes.subarray(0, 1 + random.int(bytes.length - 1))
    outcome = await exchange(url, ask, [ask.body], () => 0)
    expect(outcome.status, `${body.format} cut in ${body.encoding}`).not.toBe(200)
  }
  return outcome
}

const outcomeOfNothing: Outcome = { status: 0, code: undefined, body: Buffer.alloc(0), isSent: false }

/** Corrupt rows in all formats and encodings. */
async function insertBroken(random: Random, { url, corpus, directory }: Fuzz): Promise<Outcome> {
  const body = random.pick(corpus)
  const format = random.chance(0.8) ? body.format : random.pick(corpus).format
  const tail = random.chance(0.3) ? Buffer.from(hostileText(random, directory)) : Buffer.alloc(0)
  const bytes = Buffer.concat([random.chance(0.7) ? mutate(random, body.bytes) : body.bytes, tail])
  const sql = `INSERT INTO fuzz.torn FORMAT ${format}`
  const inBody = random.chance(0.5)
  const headers = randomHeaders(random, directory)
  if (random.chance(0.8)) headers['Content-Encoding'] = body.encoding
  const whole = inBody
    ? Buffer.concat([Buffer.from(random.pick([`${sql}\n`, `${sql} `, `${sql}\n\n`, sql])), bytes])
    : bytes
  const ask: Ask = {
    url: { ...randomUrl(random, directory), ...(!inBody && { query: sql }) },
    body: whole,
    headers,
    method: 'POST',
  }
  if (random.chance(0.2)) return abandon(url, ask, random)
  const { parts: pieces, pause } = parts(random, whole)
  return exchange(url, ask, pieces, pause)
}

/** Bytes that are almost HTTP, or two requests at once. */
async function sendRaw(random: Random, { url, directory }: Fuzz): Promise<Outcome> {
  const one = () =>
    onTheWire({
      url: { query: statement(random, directory), ...limits },
      body: Buffer.alloc(0),
      headers: {},
      method: 'POST',
    })
  const bytes = random.chance(0.3) ? Buffer.concat([one(), one()]) : mutate(random, one())
  return raw(url, bytes, random.pick([0, 5, 50]))
}

async function ask(index: number, fuzz: Fuzz): Promise<void> {
  const random = new Random(seed * 2_654_435_761 + index)
  const kinds = [
    askStatement,
    askStatement,
    askStatement,
    askEcho,
    insertExactly,
    insertExactly,
    insertBroken,
    insertBroken,
    sendRaw,
  ]
  const kind = random.chance(0.02) ? sendRaw : random.pick(kinds.slice(0, -1))
  try {
    const { body } = await kind(random, fuzz)
    expect(body.includes(secret), 'the secret is in an answer').toBe(false)
  } catch (error) {
    throw new Error(
      `request ${index} of seed ${seed} (${kind.name}): ${error instanceof Error ? error.message : error}`,
    )
  }
}

/** Open files, except those in /proc, of which each thread of the engine has three. */
const openFiles = (pid: number) => {
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // The file has been closed since.
      return []
    }
  })
  return links.filter((path) => !path.startsWith('/proc/')).length
}
const status = (pid: number, name: string) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

test(
  'no request ends it, hangs it, or makes it do anything that the request does not state',
  async () => {
    console.log(`FUZZ_SEED=${seed} FUZZ_REQUESTS=${requests}`)
    await withDirectory(async (directory) => {
      const outside = join(directory, 'outside')
      mkdirSync(outside)
      writeFileSync(join(outside, 'secret'), `${secret}\n`)
      const engine = await start(join(directory, 'data'), { maxConcurrentQueries: 2 * atOnce })
      const http = httpTo(engine.url)
      for (const query of [
        'CREATE DATABASE canary',
        'CREATE TABLE canary.kept (a UInt8) ENGINE = MergeTree ORDER BY a',
        'INSERT INTO canary.kept VALUES (1), (2), (3)',
        'CREATE TABLE canary.touched (a String) ENGINE = MergeTree ORDER BY a',
        'CREATE DATABASE fuzz',
        'CREATE TABLE fuzz.kept (id UInt64, v String) ENGINE = MergeTree ORDER BY id',
        'CREATE TABLE fuzz.torn (id UInt64, v String) ENGINE = Null',
      ]) {
        expect(await http(query), query).toMatchObject({ status: 200 })
      }
      const corpus = await makeCorpus(http, new Random(seed), outside)
      expect(new Set(corpus.map(({ format }) => format)).size).toBeGreaterThan(25)
      const fuzz: Fuzz = { url: new URL(engine.url), directory: outside, corpus, stored: new Map() }

      const settle = async () => {
        for (let i = 0; i < 300 && (await runningQueries(http)).length > 0; i++) await sleep(50)
        expect(await runningQueries(http)).toEqual([])
      }
      const check = async () => {
        await settle()
        const value = async (query: string) => (await http(query)).text
        expect(await value('SELECT sum(a), count() FROM canary.kept')).toBe('6\t3\n')
        expect(await value('SELECT count() FROM canary.touched')).toBe('0\n')
        expect(await value("SELECT name FROM system.tables WHERE database = 'canary' ORDER BY name")).toBe(
          'kept\ntouched\n',
        )
        expect(await value("SELECT count() FROM system.functions WHERE name = 'canary'")).toBe('0\n')
        expect(readdirSync(outside)).toEqual(['secret'])
        const counts = new Map<string, number>()
        for (const line of (await value('SELECT id, hex(v), count() FROM fuzz.kept GROUP BY id, v'))
          .split('\n')
          .filter(Boolean)) {
          const [id, hex, count] = line.split('\t')
          counts.set(`${id} ${hex}`, Number(count))
        }
        for (const [{ rows, format, encoding }, { sure, perhaps }] of fuzz.stored) {
          for (const [id, v] of rows) {
            const key = `${id} ${Buffer.from(v).toString('hex').toUpperCase()}`
            const count = counts.get(key) ?? 0
            counts.delete(key)
            expect(count, `row ${id} in ${format}, ${encoding}`).toBeGreaterThanOrEqual(sure)
            expect(count, `row ${id} in ${format}, ${encoding}`).toBeLessThanOrEqual(sure + perhaps)
          }
        }
        expect([...counts.keys()], 'rows that nobody sent').toEqual([])
      }
      let next = first
      const run = async (until: number) => {
        await Promise.all(
          Array.from({ length: atOnce }, async () => {
            while (next < until) await ask(next++, fuzz)
          }),
        )
        await check()
      }
      // During the first tenth, pools and caches reach their full size.
      await run(first + Math.ceil(requests / 10))
      const before = {
        files: openFiles(engine.pid),
        threads: status(engine.pid, 'Threads'),
        mb: status(engine.pid, 'VmRSS') / 1024,
      }
      while (next < first + requests) await run(Math.min(next + 10_000, first + requests))
      agent.destroy()
      await sleep(200)
      const after = {
        files: openFiles(engine.pid),
        threads: status(engine.pid, 'Threads'),
        mb: status(engine.pid, 'VmRSS') / 1024,
      }
      console.log(`before ${JSON.stringify(before)}, after ${JSON.stringify(after)}`)
      const links = readdirSync(join(directory, 'data', 'pipes'))
      expect(links.filter((name) => name.startsWith('rows-'))).toEqual([])
      expect(after.files).toBeLessThan(before.files + 40)
      // The engine's pools grow with the number of concurrent queries, up to about 250.
      expect(after.threads).toBeLessThan(400)
      expect(after.mb).toBeLessThan(before.mb + 600)
      expect(await http('SELECT 1')).toMatchObject({ text: '1\n' })
      await engine.stop()
      expect(await engine.exited).toEqual({ code: 0, signal: null })
    })
  },
  60_000 + requests * 100,
)
