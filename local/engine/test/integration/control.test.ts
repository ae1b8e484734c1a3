import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { basic, type Http, test } from './engine.js'

const endless = 'SELECT count() FROM system.numbers'

/** A query that runs until it is killed, and the response to it. */
async function running(http: Http, id: string) {
  const ended = http({ query: endless, url: { query_id: id } })
  return { ended, seen: await appears(http, id) }
}

type Process = { query: string; user: string; address: string; http_method: number; http_user_agent: string }

async function appears(http: Http, id: string): Promise<Process> {
  const columns = 'query, user, toString(address) AS address, http_method, http_user_agent'
  for (let i = 0; i < 250; i++) {
    const { text } = await http(
      `SELECT ${columns} FROM system.processes WHERE query_id = '${id.replace("'", "''")}' FORMAT JSONEachRow`,
    )
    if (text !== '') return JSON.parse(text) as Process
    await sleep(20)
  }
  throw new Error(`${id} does not show up`)
}

/** A request whose client sends and reads slowly. */
function open(base: string, query: string, id: string) {
  const url = new URL(base)
  url.searchParams.set('query', query)
  url.searchParams.set('query_id', id)
  return request(url, { method: 'POST', headers: { ...basic, 'User-Agent': 'slow one' }, agent: false })
}

test('a query is listed and killed by the id that its client sent', async ({ http }) => {
  const { ended, seen } = await running(http, "it's mine")
  expect(seen).toMatchObject({ query: endless, user: 'default', address: '::ffff:127.0.0.1', http_method: 2 })
  const other = await running(http, 'other')
  const killed = await http("KILL QUERY WHERE query_id = 'it\\'s mine' SYNC FORMAT JSONEachRow")
  expect(JSON.parse(killed.text)).toMatchObject({ kill_status: 'finished', query_id: "it's mine", user: 'default' })
  const answer = await ended
  expect(answer.status).toBe(500)
  expect(answer.text).toContain('(QUERY_WAS_CANCELLED)')
  const test = await http("KILL QUERY WHERE user = 'default' AND query_id = 'other' TEST FORMAT JSONEachRow")
  expect(JSON.parse(test.text)).toEqual({
    kill_status: 'unknown_status',
    query_id: 'other',
    user: 'default',
    query: endless,
  })
  const left = await http("SELECT query_id FROM system.processes WHERE query LIKE '%system.numbers' FORMAT TSV")
  expect(left.text.split('\n')).toContain('other')
  await http("KILL QUERY WHERE query_id = 'other'")
  await other.ended
})

test('a KILL without matching queries returns no rows', async ({ http }) => {
  const answer = await http("KILL QUERY WHERE query_id = 'nobody'")
  expect(answer).toMatchObject({ status: 200, text: '' })
})

test('queries in system.processes are shown as clients know them, also in subselects and joins; its name in a string is not replaced', async ({
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

test('a view of system.processes is stored as the client wrote it', async ({ http }) => {
  await http('CREATE VIEW busy AS SELECT * FROM system.processes')
  const { text } = await http('SHOW CREATE VIEW busy')
  expect(text).toMatch(/FROM system\.processes\s*$/)
  await http('DROP VIEW busy')
})

test('a streaming INSERT is listed without its rows, and can be killed while its client waits', async ({
  engine,
  http,
}) => {
  await http('CREATE TABLE streamed (a UInt64) ENGINE = MergeTree ORDER BY a')
  const sent = open(engine.url, 'INSERT INTO streamed FORMAT TSV', 'streams')
  const answer = new Promise<string>((resolve) => {
    sent.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()))
    sent.on('error', (error) => resolve(String(error)))
  })
  sent.write('1234567\n'.repeat(1_000_000))
  expect(await appears(http, 'streams')).toMatchObject({
    query: 'INSERT INTO streamed FORMAT TSV',
    http_user_agent: 'slow one',
  })
  const killed = await http("KILL QUERY WHERE query_id = 'streams' SYNC FORMAT JSONEachRow")
  expect(JSON.parse(killed.text)).toMatchObject({ query_id: 'streams', kill_status: 'finished' })
  expect(await answer).toContain('(QUERY_WAS_CANCELLED)')
  sent.destroy()
  expect((await http("SELECT count() FROM system.processes WHERE query_id = 'streams'")).text).toBe('0\n')
})

test('a query can be killed while its client does not read', async ({ engine, http }) => {
  const sent = open(engine.url, 'SELECT number FROM system.numbers FORMAT TSV', 'stalls')
  sent.on('error', () => undefined)
  sent.on('response', (response) => response.pause().on('error', () => undefined))
  sent.end()
  await appears(http, 'stalls')
  const readRows = async () => (await http("SELECT read_rows FROM system.processes WHERE query_id = 'stalls'")).text
  for (let before = '', now = await readRows(); before !== now; [before, now] = [now, await readRows()])
    await sleep(200)
  await http("KILL QUERY WHERE query_id = 'stalls' ASYNC")
  for (let i = 0; i < 250; i++) {
    if ((await http("SELECT count() FROM system.processes WHERE query_id = 'stalls'")).text === '0\n') break
    await sleep(20)
    expect(i, 'it ends').toBeLessThan(249)
  }
  sent.destroy()
})

test('KILL works in a session and with any condition', async ({ http }) => {
  const { ended } = await running(http, 'first')
  const other = await running(http, 'second')
  const condition = "query_id IN (SELECT query_id FROM system.processes WHERE query_id LIKE 'fir%')"
  const killed = await http({
    query: `KILL QUERY WHERE ${condition} SYNC FORMAT JSONEachRow`,
    url: { session_id: 'killer' },
  })
  expect(JSON.parse(killed.text)).toMatchObject({ query_id: 'first' })
  expect((await ended).text).toContain('(QUERY_WAS_CANCELLED)')
  await http("KILL QUERY WHERE elapsed >= 0 AND query_kind = 'Select' AND user = 'default' SYNC")
  expect((await other.ended).text).toContain('(QUERY_WAS_CANCELLED)')
})

test('the refresh of a view, which the engine runs itself, can be killed too', async ({ http }) => {
  await http('CREATE DATABASE refreshed')
  const definition =
    'REFRESH EVERY 1 YEAR (n UInt64) ENGINE = MergeTree ORDER BY n AS SELECT count() AS n FROM system.numbers'
  expect(await http(`CREATE MATERIALIZED VIEW refreshed.v ${definition}`)).toMatchObject({ status: 200 })
  const status = async () => (await http("SELECT status FROM system.view_refreshes WHERE view = 'v'")).text.trim()
  const runs = "query LIKE '%system.numbers%' AND query LIKE '%refreshed%'"
  for (let i = 0; (await status()) !== 'Running'; i++) {
    expect(i, 'it starts').toBeLessThan(250)
    await sleep(20)
  }
  for (let i = 0; (await status()) === 'Running'; i++) {
    expect(i, 'it ends').toBeLessThan(250)
    await http(`KILL QUERY WHERE ${runs}`)
    await sleep(20)
  }
  await http('DROP DATABASE refreshed SYNC')
})

test('a query id in use is refused, and can be used again afterwards', async ({ http }) => {
  const { ended } = await running(http, 'taken')
  const refused = await http({ query: 'SELECT 1', url: { query_id: 'taken' } })
  expect(refused.headers['x-clickhouse-exception-code']).toBe('216')
  expect(refused.text).toContain('Query with id = taken is already running')
  await http("KILL QUERY WHERE query_id = 'taken' SYNC")
  await ended
  expect((await http({ query: 'SELECT 1', url: { query_id: 'taken' } })).text).toBe('1\n')
})

test('exceeding a limit of time or memory fails the query, not the server', async ({ http }) => {
  const slowly = await http({ query: endless, url: { max_execution_time: '1' } })
  expect(slowly).toMatchObject({ status: 408, headers: { 'x-clickhouse-exception-code': '159' } })
  const large = await http({
    query: 'SELECT groupArray(number) FROM numbers(100000000)',
    url: { max_memory_usage: '10000000' },
  })
  expect(large).toMatchObject({ status: 500, headers: { 'x-clickhouse-exception-code': '241' } })
  expect((await http('SELECT 1')).text).toBe('1\n')
})
