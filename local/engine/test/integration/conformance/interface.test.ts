import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { basic, conforms, server } from './server.js'

conforms('/ping and a GET without a query return Ok without credentials', async ({ http }) => {
  for (const path of ['/ping', '/']) {
    expect(await http({ path, method: 'GET', headers: {} }), path).toMatchObject({ status: 200, text: 'Ok.\n' })
  }
})

conforms('/replicas_status returns Ok if no replica lags', async ({ http }) => {
  expect(await http({ path: '/replicas_status', method: 'GET' })).toMatchObject({ status: 200, text: 'Ok.\n' })
})

conforms('HEAD returns the headers of GET', async ({ http }) => {
  const answer = await http({ query: 'SELECT 1', method: 'HEAD' })
  expect(answer).toMatchObject({ status: 200, text: '' })
  expect(answer.headers['x-clickhouse-format']).toBe('TabSeparated')
})

conforms('an unknown path gives 404 and an unknown method 501', async ({ http }) => {
  expect(await http({ path: '/elsewhere' })).toMatchObject({ status: 404 })
  expect(await http({ query: 'SELECT 1', method: 'DELETE' })).toMatchObject({ status: 501 })
})

conforms('the query can be in the URL, in the body or in both', async ({ http }) => {
  expect(await http('SELECT 1')).toMatchObject({ status: 200, text: '1\n' })
  expect(await http({ body: 'SELECT 1' })).toMatchObject({ status: 200, text: '1\n' })
  expect(await http({ query: 'SELECT', body: '1 FORMAT CSV' })).toMatchObject({ status: 200, text: '1\n' })
  expect(await http({ query: 'SELECT 1 -- and the', body: '+ 1' })).toMatchObject({ status: 200, text: '2\n' })
})

conforms('an empty query is a syntax error', async ({ http }) => {
  expect(await http({ body: '' })).toMatchObject({ status: 400, text: expect.stringContaining('Empty query') })
})

conforms('a long URL is accepted', async ({ sql }) => {
  const list = Array.from({ length: 40_000 }, (_, i) => i).join(',')
  expect(await sql(`SELECT length([${list}])`)).toBe('40000\n')
})

conforms('a query longer than max_query_size is refused with an error that says so', async ({ http }) => {
  const body = `SELECT length('${'x'.repeat(300_000)}')`
  expect(await http({ body })).toMatchObject({ status: 400, text: expect.stringContaining('max_query_size') })
  expect(await http({ body, url: { max_query_size: '400000' } })).toMatchObject({ status: 200, text: '300000\n' })
})

conforms('database and format can be a parameter or a header, and the header wins', async ({ http, database }) => {
  const headers = { ...basic, 'X-ClickHouse-Database': 'system', 'X-ClickHouse-Format': 'CSV' }
  const query = 'SELECT currentDatabase()'
  expect(await http(query)).toMatchObject({ text: `${database}\n` })
  expect(await http({ query, headers, url: { default_format: 'JSON' } })).toMatchObject({ text: '"system"\n' })
})

conforms('the id of a query can be a header', async ({ http, database }) => {
  const id = `${database}_by_header`
  const { headers } = await http({ query: 'SELECT 1', headers: { ...basic, 'X-ClickHouse-Query-Id': id } })
  expect(headers['x-clickhouse-query-id']).toBe(id)
})

conforms('a POST without a length is refused with error 381', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.end(`POST /?query=SELECT+1 HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic.Authorization}\r\n\r\n`)
  let answer = ''
  for await (const chunk of socket) answer += chunk
  expect(answer).toMatch(/^HTTP\/1.1 411 [\s\S]*Code: 381/)
})

conforms('an unknown role is refused', async ({ http }) => {
  expect(await http({ query: 'SELECT 1', url: { role: 'nobody' } })).toMatchObject({ status: 404 })
})

conforms('a connection is kept alive, and a header says for how long', async ({ http }) => {
  const { headers } = await http({ query: 'SELECT 1', headers: { ...basic, Connection: 'keep-alive' } })
  expect(String(headers.connection)).toMatch(/^keep-alive$/i)
  expect(headers['keep-alive']).toMatch(/timeout=\d+/)
})

conforms('credentials can be sent as Basic, headers or parameters', async ({ http }) => {
  const { user, password } = server
  const key = Buffer.from(password).toString('latin1')
  const query = 'SELECT currentUser()'
  for (const ask of [
    { headers: basic },
    { headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': key } },
    { headers: {}, url: { user, password } },
  ]) {
    expect(await http({ query, ...ask }), JSON.stringify(Object.keys(ask))).toMatchObject({ text: `${user}\n` })
  }
})

conforms('wrong credentials are error 516 with status 403', async ({ http }) => {
  const { user, password } = server
  const wrong = `Basic ${Buffer.from(`${user}:${password}x`).toString('base64')}`
  for (const ask of [
    { headers: { Authorization: wrong } },
    { headers: { 'X-ClickHouse-User': 'nobody-here', 'X-ClickHouse-Key': password } },
    { headers: {}, url: { user, password: `${password}x` } },
  ]) {
    const answer = await http({ query: 'SELECT 1', ...ask })
    expect(answer).toMatchObject({ status: 403 })
    expect(answer.headers['x-clickhouse-exception-code']).toBe('516')
  }
})

conforms('credentials in two places are refused', async ({ http }) => {
  const { user, password } = server
  const answer = await http({ query: 'SELECT 1', headers: basic, url: { user, password } })
  expect(answer.headers['x-clickhouse-exception-code']).toBe('516')
})

conforms('curl: the documented ways to send a query work', async ({ curl }) => {
  expect(await curl([], { query: 'SELECT 1' })).toBe('1\n')
  expect(await curl(['-d', 'SELECT 2'])).toBe('2\n')
  expect(await curl(['--data-binary', 'SELECT 3 FORMAT JSONEachRow'])).toBe('{"3":3}\n')
  expect(await curl(['-G', '--data-urlencode', 'query=SELECT 4 + 1'])).toBe('5\n')
  expect(await curl(['-F', 'query=SELECT {p1:UInt8} + {p2:UInt8}', '-F', 'param_p1=3', '-F', 'param_p2=4'])).toBe('7\n')
  expect(await curl(['--compressed'], { query: 'SELECT 6', enable_http_compression: '1' })).toBe('6\n')
})

conforms('curl: rows can be sent after Expect: 100-continue and in chunks', async ({ curl, sql }) => {
  await sql('CREATE TABLE curled (a UInt32) ENGINE = MergeTree ORDER BY a')
  const rows = Array.from({ length: 300 }, (_, i) => i).join('\n')
  const query = 'INSERT INTO curled FORMAT TSV'
  await curl(['-H', 'Expect: 100-continue', '--data-binary', rows], { query })
  await curl(['-H', 'Transfer-Encoding: chunked', '--data-binary', rows], { query })
  expect(await sql('SELECT count(), sum(a) FROM curled')).toBe('600\t89700\n')
})

conforms('curl: an error is text, and makes --fail fail', async ({ curl }) => {
  expect(await curl(['-d', 'SELECT * FROM nowhere'])).toMatch(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)/)
  await expect(curl(['--fail', '-d', 'SELECT * FROM nowhere'])).rejects.toThrow('404')
})

conforms(
  'an unknown Content-Encoding and broken gzip are errors, and the next request is answered',
  async ({ http }) => {
    const encoded = (encoding: string, body: Buffer) =>
      http({ body, headers: { ...basic, 'Content-Encoding': encoding } })
    expect((await encoded('zap', Buffer.from('SELECT 1'))).status).toBeGreaterThanOrEqual(400)
    expect((await encoded('gzip', Buffer.from('SELECT 1'))).status).toBeGreaterThanOrEqual(400)
    expect((await encoded('gzip', gzipSync('SELECT 1').subarray(0, 12))).status).toBeGreaterThanOrEqual(400)
    expect(await http('SELECT 1')).toMatchObject({ status: 200 })
  },
)
