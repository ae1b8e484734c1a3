import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { conforms } from './server.js'

/** A query that does nothing for a second. */
const slow = 'SELECT sum(sleepEachRow(0.05)) FROM numbers(60) SETTINGS max_block_size = 1'

const until = async (what: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 200; i++) {
    if (await what()) return
    await sleep(50)
  }
  throw new Error(`not within 10 s: ${what}`)
}

conforms('a second query with the same id is error 216', async ({ http, database }) => {
  const url = { query_id: `${database}-same` }
  const first = http({ query: slow, url })
  await sleep(300)
  const second = await http({ query: 'SELECT 1', url })
  expect(second.headers['x-clickhouse-exception-code']).toBe('216')
  expect(await first).toMatchObject({ status: 200 })
})

conforms('replace_running_query ends the first of two queries with the same id', async ({ http, database }) => {
  const url = { query_id: `${database}-replaced` }
  const first = http({ query: slow, url })
  await sleep(300)
  expect(await http({ query: 'SELECT 1', url: { ...url, replace_running_query: '1' } })).toMatchObject({ text: '1\n' })
  expect((await first).headers['x-clickhouse-exception-code']).toBe('394')
})

conforms('system.processes shows the id, user and text of a query', async ({ http, sql, database }) => {
  const query_id = `${database}-shown`
  const running = http({ query: slow, url: { query_id } })
  const shown = () => sql(`SELECT query, user = currentUser() FROM system.processes WHERE query_id = '${query_id}'`)
  await until(async () => (await shown()) !== '')
  expect(await shown()).toBe(`${slow}\t1\n`)
  await running
})

conforms('KILL QUERY stops the query with the client’s id', async ({ http, sql, database }) => {
  const query_id = `${database}-killed`
  const running = http({ query: 'SELECT count() FROM system.numbers', url: { query_id, max_execution_time: '20' } })
  await sleep(500)
  await sql(`KILL QUERY WHERE query_id = '${query_id}' SYNC`)
  expect((await running).headers['x-clickhouse-exception-code']).toBe('394')
})

conforms('a query ends when its client disconnects', async ({ client, sql, database }) => {
  const mark = `${database}-left`
  const gone = new AbortController()
  const running = client.query({
    query: `SELECT count() FROM system.numbers WHERE number != 1 SETTINGS log_comment = '${mark}'`,
    abort_signal: gone.signal,
    clickhouse_settings: { cancel_http_readonly_queries_on_client_close: 1, max_execution_time: 60 },
  })
  running.catch(() => undefined)
  const count = () =>
    sql(`SELECT count() FROM system.processes WHERE query LIKE '%${mark}%' AND query NOT LIKE '%processes%'`)
  await until(async () => (await count()) === '1\n')
  gone.abort()
  await expect(running).rejects.toThrow()
  await until(async () => (await count()) === '0\n')
})

conforms('system.query_log has finished and failed queries with the client’s ids', async ({ http, sql, database }) => {
  await http({ query: 'SELECT sum(number) FROM numbers(10)', url: { query_id: `${database}-logged` } })
  await http({ query: 'SELECT throwIf(1)', url: { query_id: `${database}-failed` } })
  await sql('SYSTEM FLUSH LOGS')
  const query = `SELECT query_id, type, exception_code, query FROM system.query_log
    WHERE query_id IN ('${database}-logged', '${database}-failed') AND type != 'QueryStart' ORDER BY query_id`
  expect(await sql(query)).toBe(
    `${database}-failed\tExceptionWhileProcessing\t395\tSELECT throwIf(1)\n` +
      `${database}-logged\tQueryFinish\t0\tSELECT sum(number) FROM numbers(10)\n`,
  )
})
