import { request } from 'node:http'
import { expect } from 'vitest'
import { basic, clientOf, test } from './engine.js'

const slow = 'SELECT sum(sleepEachRow(0.2)) FROM numbers(8) SETTINGS max_block_size = 1'

/** The raw bytes of a response. */
function onTheWire(base: string, query: string, url: Record<string, string>): Promise<{ raw: string; status: number }> {
  const target = new URL(base)
  for (const [name, value] of Object.entries({ ...url, query })) target.searchParams.set(name, value)
  return new Promise((resolve, reject) => {
    const sent = request(target, { method: 'POST', headers: basic, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      // An answer with an error has no end.
      response.on('error', () => undefined)
      response.on('close', () => {
        const head = response.rawHeaders.map((text, i) => (i % 2 ? `${text}\n` : `${text}: `)).join('')
        resolve({ raw: `${head}\n${Buffer.concat(chunks)}`, status: response.statusCode ?? 0 })
      })
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
  const { raw } = await onTheWire(engine.url, failing, url)
  expect(raw).toMatch(/X-ClickHouse-Exception-Code: 395/i)
  expect(raw).toContain('FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')
  const compressed = clientOf(engine.url, { compression: { response: true } })
  for (const [i, asking] of [client, compressed].entries()) {
    const query = asking.query({
      query: failing,
      format: 'JSONEachRow',
      clickhouse_settings: { send_progress_in_http_headers: 1 },
    })
    await expect(
      query.then((result) => result.json()),
      String(i),
    ).rejects.toMatchObject({ code: '395' })
  }
  await compressed.close()
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

test('an error among rows of progress is an error to the client, not a row', async ({ client, http }) => {
  const query = 'SELECT throwIf(number = 5), sleepEachRow(0.2) FROM numbers(8) SETTINGS max_block_size = 1'
  const result = await client.query({ query, format: 'JSONEachRowWithProgress' })
  const read = async () => {
    for await (const _ of result.stream());
  }
  await expect(read()).rejects.toMatchObject({ code: '395' })
  const raw = await http(`${query} FORMAT JSONEachRowWithProgress`).catch((error) => error)
  expect(raw).toBeInstanceOf(Error)
})

test('a result in JSONEachRowWithProgress begins with progress, however quick it was', async ({ http }) => {
  for (const query of ['SELECT 1 AS one', 'SELECT 1 AS one WHERE 0']) {
    const { text } = await http(`${query} FORMAT JSONEachRowWithProgress`)
    expect(Object.keys(JSON.parse(text.split('\n')[0] as string)), query).toEqual(['progress'])
  }
})

test('an answer to an INSERT has a content type', async ({ http }) => {
  await http('CREATE TABLE typed (a UInt8) ENGINE = Memory')
  const answer = await http({ query: 'INSERT INTO typed FORMAT CSV', body: '7\n' })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain; charset=UTF-8' } })
})

test('every setting that system.settings lists can be named in a request', async ({ http }) => {
  const { text } = await http("SELECT name FROM system.settings WHERE name LIKE 'chdb%'")
  expect(text).toBe('')
  expect(Number((await http('SELECT count() FROM system.settings')).text)).toBeGreaterThan(1000)
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
