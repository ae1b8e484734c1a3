import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Http, test } from './engine.js'

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
  expect(seen).toEqual({ query: endless, user: 'default' })
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
