import { request } from 'node:http'
import { expect } from 'vitest'
import { basic, conforms, server } from './server.js'

const summaryOf = (headers: Record<string, unknown>) => JSON.parse(String(headers['x-clickhouse-summary']))

conforms('every response names the query, the server, the time zone and the format', async ({ http }) => {
  const { headers } = await http('SELECT 1')
  expect(headers).toMatchObject({
    'x-clickhouse-query-id': expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    'x-clickhouse-server-display-name': expect.stringMatching(/./),
    'x-clickhouse-timezone': expect.stringMatching(/./),
    'x-clickhouse-format': 'TabSeparated',
    'x-clickhouse-exception-tag': expect.stringMatching(/^[a-z]{16}$/),
  })
})

conforms('a query has the id that its client sent', async ({ http, database }) => {
  const query_id = `${database}-mine`
  expect((await http({ query: 'SELECT 1', url: { query_id } })).headers['x-clickhouse-query-id']).toBe(query_id)
  const failed = await http({ query: 'SELECT nothing', url: { query_id } })
  expect(failed.headers['x-clickhouse-query-id']).toBe(query_id)
})

conforms('the summary counts the rows that an insert wrote', async ({ http, sql }) => {
  await sql('CREATE TABLE counted (a UInt8) ENGINE = Memory')
  const rows = await http({ query: 'INSERT INTO counted FORMAT CSV', body: '1\n2\n3\n' })
  expect(summaryOf(rows.headers)).toMatchObject({ written_rows: '3', written_bytes: expect.stringMatching(/^[1-9]/) })
})

conforms('the summary counts the rows that INSERT … SELECT wrote', async ({ http, sql }) => {
  await sql('CREATE TABLE copied (a UInt8) ENGINE = Memory')
  const selected = await http('INSERT INTO copied SELECT number FROM numbers(5)')
  expect(summaryOf(selected.headers)).toMatchObject({ written_rows: '5' })
})

conforms('the summary counts the rows that were read, not those of the result', async ({ http }) => {
  const { headers } = await http({ query: 'SELECT sum(number) FROM numbers(1000)', url: { wait_end_of_query: '1' } })
  expect(summaryOf(headers)).toMatchObject({ read_rows: '1000', read_bytes: '8000', result_rows: '1' })
})

conforms('the summary has all fields that clients use', async ({ http }) => {
  const summary = summaryOf((await http({ query: 'SELECT 1', url: { wait_end_of_query: '1' } })).headers)
  for (const field of [
    'read_rows',
    'read_bytes',
    'written_rows',
    'written_bytes',
    'total_rows_to_read',
    'result_rows',
    'result_bytes',
    'elapsed_ns',
  ]) {
    expect(summary[field], field).toMatch(/^\d+$/)
  }
})

conforms('progress is sent in headers while a query runs, if it is requested', async ({ database }) => {
  const url = new URL(server.url)
  const query = 'SELECT sum(sleepEachRow(0.1)) FROM numbers(10) SETTINGS max_block_size = 1'
  const parameters = {
    database,
    query,
    send_progress_in_http_headers: '1',
    http_headers_progress_interval_ms: '100',
    wait_end_of_query: '1',
  }
  url.search = new URLSearchParams(parameters).toString()
  const raw = await new Promise<string[]>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: basic, agent: false }, (response) => {
      response.resume()
      resolve(response.rawHeaders)
    })
    sent.on('error', reject)
    sent.end()
  })
  const progress = raw.flatMap((name, i) => (/^x-clickhouse-progress$/i.test(name) && i % 2 === 0 ? [raw[i + 1]] : []))
  expect(progress.length).toBeGreaterThan(1)
  expect(JSON.parse(String(progress.at(-1)))).toMatchObject({ read_rows: expect.stringMatching(/^[1-9]/) })
})
