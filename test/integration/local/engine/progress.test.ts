import { request } from 'node:http'
import { expect } from 'vitest'
import { basic, test } from './engine.js'

const slow = 'SELECT sum(sleepEachRow(0.2)) FROM numbers(8) SETTINGS max_block_size = 1'

/** The raw bytes of a response. */
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

test('progress is sent in headers while a query runs, and the result follows', async ({ engine }) => {
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

test('an error after progress headers reaches the client', async ({ engine, client }) => {
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

test('JSONEachRowWithProgress has rows of progress only between complete rows', async ({ client }) => {
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

test('with wait_end_of_query an error keeps its status, with or without progress', async ({ http }) => {
  const answer = await http({
    query: 'SELECT throwIf(number = 5), sleepEachRow(0.2) FROM numbers(8) SETTINGS max_block_size = 1',
    url: { wait_end_of_query: '1', default_format: 'JSONEachRowWithProgress' },
  })
  expect(answer).toMatchObject({ status: 500, headers: { 'x-clickhouse-exception-code': '395' } })
  expect(answer.text).toContain('FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')
})

test('the summary counts rows read even for very short queries', async ({ http }) => {
  for (const format of ['JSON', 'JSONCompact', 'JSONStrings', 'JSONColumnsWithMetadata']) {
    const { headers } = await http(`SELECT sum(number) FROM numbers(1000000) FORMAT ${format}`)
    const read = { read_rows: '1000000', read_bytes: '8000000', result_rows: '1' }
    expect(JSON.parse(String(headers['x-clickhouse-summary'])), format).toMatchObject(read)
  }
})
