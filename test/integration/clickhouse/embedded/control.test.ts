import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { basic, credentials, type Http, httpTo, start, test, withDirectory } from './engine.js'

const endless = 'SELECT count() FROM system.numbers'

/** A query that goes on until it is killed, and what is said of it then. */
async function running(http: Http, id: string) {
  const ended = http({ query: endless, url: { query_id: id } })
  for (let i = 0; i < 250; i++) {
    const { text } = await http(
      `SELECT query, user FROM system.processes WHERE query_id = '${id.replace("'", "''")}' FORMAT JSONEachRow`,
    )
    if (text !== '') return { ended, seen: JSON.parse(text) as { query: string; user: string } }
    await sleep(20)
  }
  throw new Error(`${id} does not show up`)
}

test('a query is seen and killed under the id that its client gave it', async ({ http }) => {
  const { ended, seen } = await running(http, "it's mine")
  expect(seen).toEqual({
    query: expect.stringMatching(/^SELECT count\(\) FROM system\.numbers\s+FORMAT/),
    user: 'default',
  })
  const other = await running(http, 'other')
  const killed = await http("KILL QUERY WHERE query_id = 'it\\'s mine' SYNC FORMAT JSONEachRow")
  expect(JSON.parse(killed.text)).toMatchObject({ kill_status: 'finished', query_id: "it's mine", user: 'default' })
  const answer = await ended
  expect(answer.status).toBe(500)
  expect(answer.text).toContain('(QUERY_WAS_CANCELLED)')
  const test = await http("KILL QUERY WHERE user = 'default' AND query_id = 'other' TEST FORMAT JSONEachRow")
  expect(Object.keys(JSON.parse(test.text))).toEqual(['query_id', 'user', 'query'])
  const left = await http("SELECT query_id FROM system.processes WHERE query LIKE '%system.numbers %' FORMAT TSV")
  expect(left.text.split('\n')).toContain('other')
  await http("KILL QUERY WHERE query_id = 'other'")
  await other.ended
})

test('a KILL of nothing answers nothing', async ({ http }) => {
  const answer = await http("KILL QUERY WHERE query_id = 'nobody'")
  expect(answer).toMatchObject({ status: 200, text: '' })
})

test('processes are shown as clients know them, in subselects and joins too, and as text they are left alone', async ({
  http,
}) => {
  const ask = (query: string) => http({ query, url: { query_id: 'asking' } })
  const own = await ask(
    "SELECT p.query_id FROM (SELECT 1) AS x CROSS JOIN system.processes AS p WHERE p.query_id = 'asking'",
  )
  expect(own.text).toBe('asking\n')
  const list = await ask('SHOW PROCESSLIST FORMAT JSONEachRow')
  expect(list.text).toContain('"query_id":"asking"')
  const { Settings } = JSON.parse(list.text.split('\n').find((line) => line.includes('"query_id":"asking"')) as string)
  expect(Object.keys(Settings)).not.toContain('chdb_client_name')
  expect((await ask("SELECT 'FROM system.processes'")).text).toBe('FROM system.processes\n')
  expect((await ask('SELECT count() > 0 FROM system.processes WHERE system.processes.elapsed >= 0')).text).toBe('1\n')
})

test('the query log has who asked what, what came of it, and no secrets', async ({ http }) => {
  await http({ query: 'CREATE TABLE logged (a UInt32) ENGINE = Memory' })
  await http({ query: 'INSERT INTO logged FORMAT CSV', url: { query_id: 'in' }, body: '1\n2\n' })
  await http({
    query: 'SELECT a FROM logged WHERE a > {low: UInt32} AND {secret_word: String} != {word: String}',
    url: {
      query_id: 'out',
      param_low: '1',
      param_secret_word: 'hush',
      param_word: 'loud',
      max_threads: '1',
      log_comment: 'why',
    },
  })
  await http({ query: 'SELECT * FROM missing_table', url: { query_id: 'wrong' } })
  await http({ query: 'SELECT (((', url: { query_id: 'no sql' } })
  await http({ query: "SELECT encrypt('aes-128-ecb', 'text', 'sixteen byte key')", url: { query_id: 'key' } })
  await http({ query: 'SELECT 1', url: { query_id: 'unlogged', log_queries: '0' } })
  await http('SYSTEM FLUSH LOGS')
  const { text } = await http('SELECT * FROM system.query_log ORDER BY event_time_microseconds FORMAT JSONEachRow')
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const row = (id: string) => rows.find(({ query_id }) => query_id === id)
  expect(row('in')).toMatchObject({
    type: 'QueryFinish',
    query: 'INSERT INTO logged FORMAT CSV',
    query_kind: 'Insert',
    written_rows: 2,
    user: credentials.user,
    current_database: 'default',
    exception_code: 0,
  })
  expect(row('out')).toMatchObject({
    result_rows: 1,
    query_kind: 'Select',
    query_parameters: { low: '1', word: 'loud', secret_word: '[HIDDEN]' },
    Settings: { max_threads: '1', log_comment: 'why' },
    log_comment: 'why',
  })
  expect(row('wrong')).toMatchObject({ type: 'ExceptionWhileProcessing', exception_code: 60 })
  expect(row('no sql')).toMatchObject({ exception_code: 62 })
  expect(row('unlogged')).toBeUndefined()
  expect(text).not.toContain('hush')
  expect(text).not.toContain('sixteen byte key')
  expect(text).not.toContain(credentials.password)
  const { seconds } = JSON.parse(
    (await http('SELECT max(abs(event_time - now())) AS seconds FROM system.query_log FORMAT JSONEachRow')).text,
  )
  expect(seconds).toBeLessThan(600)
})

test('the query log outlives the server, and a table of another shape is put aside', async () => {
  await withDirectory(async (dataDir) => {
    const first = await start(dataDir)
    await httpTo(first.url)({ query: 'SELECT 41', url: { query_id: 'kept' } })
    await first.stop()
    const second = await start(dataDir)
    const http = httpTo(second.url)
    expect((await http("SELECT query FROM system.query_log WHERE query_id = 'kept'")).text).toBe('SELECT 41\n')
    await http("ALTER TABLE server_log.query_log MODIFY COMMENT 'another'")
    await second.stop()
    const third = await start(dataDir)
    const again = httpTo(third.url)
    expect((await again("SELECT count() FROM system.query_log WHERE query_id = 'kept'")).text).toBe('0\n')
    const old = await again("SELECT name FROM system.tables WHERE database = 'server_log' AND name != 'query_log'")
    expect((await again(`SELECT query FROM server_log.${old.text.trim()} WHERE query_id = 'kept'`)).text).toBe(
      'SELECT 41\n',
    )
    await third.stop()
  })
})

const slow = 'SELECT sum(sleepEachRow(0.2)) FROM numbers(8) SETTINGS max_block_size = 1'

/** The bytes of an answer as they are on the wire. */
function onTheWire(base: string, query: string, url: Record<string, string>): Promise<{ raw: string; status: number }> {
  const target = new URL(base)
  for (const [name, value] of Object.entries({ ...url, query })) target.searchParams.set(name, value)
  return new Promise((resolve, reject) => {
    const sent = request(target, { method: 'POST', headers: basic, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const head = response.rawHeaders.map((text, i) => (i % 2 ? `${text}\n` : `${text}: `)).join('')
        resolve({ raw: `${head}\n${Buffer.concat(chunks)}`, status: response.statusCode ?? 0 })
      })
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('progress is told in headers while a query runs, and the result comes behind them', async ({ engine }) => {
  const { raw, status } = await onTheWire(engine.url, `${slow} FORMAT TSV`, { send_progress_in_http_headers: '1' })
  expect(status).toBe(200)
  const told = [...raw.matchAll(/X-ClickHouse-Progress: (.*)\n/gi)].map(([, json]) => JSON.parse(json as string))
  expect(told.length).toBeGreaterThan(2)
  const rows = told.map(({ read_rows }) => Number(read_rows))
  expect(rows).toEqual(rows.toSorted((a, b) => a - b))
  expect(rows.at(-1)).toBeGreaterThan(0)
  expect(raw).toMatch(/X-ClickHouse-Summary: \{.*"read_rows":"[1-8]"/i)
  expect(raw.endsWith('\n0\n')).toBe(true)
})

test('an error behind progress headers is told', async ({ engine, client }) => {
  const failing = 'SELECT throwIf(number = 7), sleepEachRow(0.2) FROM numbers(8) SETTINGS max_block_size = 1'
  const url = { send_progress_in_http_headers: '1' }
  const { raw } = await onTheWire(engine.url, failing, url).catch((error) => ({ raw: String(error) }))
  expect(raw).toMatch(/FUNCTION_THROW_IF_VALUE_IS_NON_ZERO|aborted/)
  const query = client.query({
    query: failing,
    format: 'JSONEachRow',
    clickhouse_settings: { send_progress_in_http_headers: 1 },
  })
  await expect(query.then((result) => result.json())).rejects.toThrow()
})

test('JSONEachRowWithProgress has rows of progress between whole rows', async ({ client }) => {
  const result = await client.query({
    query: 'SELECT number, sleepEachRow(0.2) AS slept FROM numbers(6) SETTINGS max_block_size = 1',
    format: 'JSONEachRowWithProgress',
  })
  const rows: Record<string, unknown>[] = []
  for await (const chunk of result.stream()) for (const row of chunk) rows.push(row.json() as Record<string, unknown>)
  const numbers = rows.flatMap((row) => ('row' in row ? [(row.row as { number: string }).number] : []))
  expect(numbers.map(Number)).toEqual([0, 1, 2, 3, 4, 5])
  expect(rows.filter((row) => 'progress' in row).length).toBeGreaterThan(1)
})

test('an error among rows of progress is a row', async ({ http }) => {
  const query =
    'SELECT throwIf(number = 5), sleepEachRow(0.2) FROM numbers(8) SETTINGS max_block_size = 1 FORMAT JSONEachRowWithProgress'
  const lines = (await http(query)).text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.at(-1).exception).toContain('FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')
})

test('limits of time and memory are errors of the query, not of the server', async ({ http }) => {
  const slowly = await http({ query: endless, url: { max_execution_time: '1' } })
  expect(slowly).toMatchObject({ status: 408, headers: { 'x-clickhouse-exception-code': '159' } })
  const large = await http({
    query: 'SELECT groupArray(number) FROM numbers(100000000)',
    url: { max_memory_usage: '10000000' },
  })
  expect(large).toMatchObject({ status: 500, headers: { 'x-clickhouse-exception-code': '241' } })
  expect((await http('SELECT 1')).text).toBe('1\n')
})
