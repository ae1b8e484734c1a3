import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { credentials, test } from './engine.js'

describe('requests', () => {
  test('/ping answers without a password', async ({ http }) => {
    expect(await http({ path: '/ping', method: 'GET', headers: {} })).toMatchObject({ status: 200, text: 'Ok.\n' })
    expect(await http({ path: '/elsewhere' })).toMatchObject({ status: 404 })
    expect(await http({ query: 'SELECT 1', method: 'DELETE' })).toMatchObject({ status: 501 })
  })

  test('the query may be in the URL, in the body or in both', async ({ http }) => {
    expect(await http('SELECT 1')).toMatchObject({ status: 200, text: '1\n' })
    expect(await http({ body: 'SELECT 1' })).toMatchObject({ status: 200, text: '1\n' })
    expect(await http({ query: 'SELECT', body: '1 FORMAT CSV' })).toMatchObject({ status: 200, text: '1\n' })
    expect(await http({ query: 'SELECT 1 -- and the', body: '+ 1' })).toMatchObject({ status: 200, text: '2\n' })
  })

  test('rows of an INSERT may come in the URL, in the body or in both', async ({ http }) => {
    await http('CREATE TABLE places (a String) ENGINE = MergeTree ORDER BY a')
    await http('INSERT INTO places FORMAT CSV url')
    await http({ query: 'INSERT INTO places FORMAT CSV', body: 'body' })
    await http({ query: 'INSERT INTO places FORMAT CSV part1', body: 'part2' })
    await http({ body: 'INSERT INTO places FORMAT CSV\nwith query' })
    await http({ query: 'INSERT INTO places', body: 'FORMAT CSV\nhead in both' })
    await http({ query: "INSERT INTO places VALUES ('values')", body: ", ('more')" })
    await http({ query: 'INSERT INTO places FORMAT CSV', body: '' })
    const { text } = await http('SELECT a FROM places ORDER BY a')
    expect(text.trim().split('\n')).toEqual([
      'body',
      'head in both',
      'more',
      'part1',
      'part2',
      'url',
      'values',
      'with query',
    ])
  })

  test('GET reads and does not write', async ({ http }) => {
    expect(await http({ query: 'SELECT 1', method: 'GET' })).toMatchObject({ status: 200, text: '1\n' })
    const answer = await http({ query: 'CREATE TABLE got (a UInt8) ENGINE = Memory', method: 'GET' })
    expect(answer.headers['x-clickhouse-exception-code']).toBe('164')
    expect(await http('EXISTS got')).toMatchObject({ text: '0\n' })
  })

  test('a long URL is read', async ({ http }) => {
    const list = Array.from({ length: 40_000 }, (_, i) => i).join(',')
    expect(await http(`SELECT length([${list}])`)).toMatchObject({ text: '40000\n' })
  })

  test('a query that is too long is told so', async ({ http }) => {
    const body = `SELECT length('${'x'.repeat(300_000)}')`
    expect(await http({ body })).toMatchObject({ status: 400, text: expect.stringContaining('max_query_size') })
    expect(await http({ body, url: { max_query_size: '400000' } })).toMatchObject({ status: 200, text: '300000\n' })
  })

  test('default_format, FORMAT and the header decide, in this order of weakness', async ({ http }) => {
    const url = { default_format: 'JSONCompactEachRow' }
    expect(await http({ query: 'SELECT 1', url })).toMatchObject({ text: '[1]\n' })
    const answer = await http({ query: 'SELECT 1 AS a FORMAT JSONEachRow', url })
    expect(answer).toMatchObject({ text: '{"a":1}\n' })
    expect(answer.headers).toMatchObject({
      'x-clickhouse-format': 'JSONEachRow',
      'content-type': 'application/x-ndjson; charset=UTF-8',
      'x-clickhouse-timezone': 'UTC',
      'x-clickhouse-exception-tag': expect.stringMatching(/^[a-z]{16}$/),
    })
  })

  test('settings come with the request and stay with it', async ({ http }) => {
    const query = "SELECT getSetting('max_block_size'), currentDatabase()"
    const url = { max_block_size: '77', database: 'system' }
    expect(await http({ query, url })).toMatchObject({ text: '77\tsystem\n' })
    expect(await http(query)).toMatchObject({ text: '65409\tdefault\n' })
    expect(await http({ query, url: { max_block_size: 'many' } })).toMatchObject({ status: 400 })
    expect(await http({ query, url: { readonly: '1', max_block_size: '78' } })).toMatchObject({ text: '78\tdefault\n' })
    const write = await http({ query: 'CREATE TABLE w (a UInt8) ENGINE = Memory', url: { readonly: '1' } })
    expect(write.headers['x-clickhouse-exception-code']).toBe('164')
  })

  test('the summary counts rows written and rows of the result', async ({ http }) => {
    await http('CREATE TABLE counted (a UInt8) ENGINE = Memory')
    const written = await http({ query: 'INSERT INTO counted FORMAT CSV', body: '1\n2\n3\n' })
    expect(JSON.parse(String(written.headers['x-clickhouse-summary']))).toMatchObject({ written_rows: '3' })
  })

  test('the id of a query is the client’s, and may run once at a time', async ({ http }) => {
    const url = { query_id: 'my-id' }
    const slow = http({ query: 'SELECT sleep(0.5)', url })
    await new Promise((resolve) => setTimeout(resolve, 150))
    const second = await http({ query: 'SELECT 1', url })
    expect(second.headers).toMatchObject({ 'x-clickhouse-query-id': 'my-id', 'x-clickhouse-exception-code': '216' })
    expect(await slow).toMatchObject({ status: 200 })
    expect(await http({ query: 'SELECT 1', url: { query_id: 'a\nb é' } })).toMatchObject({ status: 200 })
  })

  test('multipart parameters are read', async ({ http }) => {
    const boundary = 'xxx'
    const part = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const body = `${part('query', 'SELECT {a: String}, {b: UInt8}')}${part('param_a', 'x;y')}${part('param_b', '3')}--${boundary}--\r\n`
    const headers = {
      Authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    }
    expect(await http({ body, headers })).toMatchObject({ status: 200, text: 'x;y\t3\n' })
  })

  test('weird URLs, headers and encodings get an answer', async ({ http }) => {
    const auth = {
      Authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
    }
    expect(await http({ path: '/x//y', query: 'SELECT 1' })).toMatchObject({ status: 404 })
    const unknown = await http({ body: 'SELECT 1', headers: { ...auth, 'Content-Encoding': 'zap' } })
    expect(unknown.status).toBe(501)
    const broken = await http({ body: 'SELECT 1', headers: { ...auth, 'Content-Encoding': 'gzip' } })
    expect(broken.status).toBe(500)
    expect(await http({ body: Buffer.from([0x53, 0xff, 0xfe]) })).toMatchObject({ status: 400 })
    expect(await http({ body: 'SELECT 1 \0' })).toMatchObject({ status: 400 })
    expect(await http('SELECT 1')).toMatchObject({ status: 200 })
  })
})

describe('credentials', () => {
  const { user, password } = credentials
  const basic = (u: string, p: string) => ({ Authorization: `Basic ${Buffer.from(`${u}:${p}`).toString('base64')}` })

  test('are taken from Basic, headers and URL', async ({ http }) => {
    const key = Buffer.from(password).toString('latin1')
    expect(await http({ query: 'SELECT 1', headers: basic(user, password) })).toMatchObject({ status: 200 })
    const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': key }
    expect(await http({ query: 'SELECT 1', headers })).toMatchObject({ status: 200 })
    expect(await http({ query: 'SELECT 1', headers: {}, url: { user, password } })).toMatchObject({ status: 200 })
  })

  test('that are wrong give error 516, whatever is wrong with them', async ({ http }) => {
    for (const ask of [
      { headers: {} },
      { headers: basic(user, 'wrong') },
      { headers: basic('other', password) },
      { headers: basic(user, '') },
      { headers: { Authorization: 'Basic ???' } },
      { headers: { Authorization: 'Bearer x' } },
      { headers: {}, url: { user, password: `${password}x` } },
    ]) {
      const answer = await http({ query: 'SELECT 1', ...ask })
      expect(answer, JSON.stringify(ask)).toMatchObject({ status: 403 })
      expect(answer.headers['x-clickhouse-exception-code']).toBe('516')
      expect(answer.text).not.toContain(password)
    }
  })
})

describe('compression', () => {
  const auth = {
    Authorization: `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`,
  }

  test.for([
    ['gzip', gzipSync, gunzipSync],
    ['deflate', deflateSync, inflateSync],
    ['br', brotliCompressSync, brotliDecompressSync],
  ] as const)('%s both ways', async ([encoding, compress, decompress], { http }) => {
    const sent = await http({ body: compress('SELECT 7'), headers: { ...auth, 'Content-Encoding': encoding } })
    expect(sent.text).toBe('7\n')
    for (const rows of [3, 500_000]) {
      const query = `SELECT number FROM numbers(${rows})`
      const answer = await http({ query, headers: { ...auth, 'Accept-Encoding': encoding } })
      expect(answer.headers['content-encoding']).toBe(encoding)
      expect(decompress(answer.body).toString().split('\n')).toHaveLength(rows + 1)
    }
  })

  test('is not used when it is not accepted or switched off', async ({ http }) => {
    const accepting = { ...auth, 'Accept-Encoding': 'gzip' }
    const url = { enable_http_compression: '0' }
    for (const ask of [
      { headers: auth },
      { headers: accepting, url },
      { headers: { ...auth, 'Accept-Encoding': 'zap' } },
    ]) {
      const answer = await http({ query: 'SELECT 1', ...ask })
      expect(answer).toMatchObject({ status: 200, text: '1\n' })
      expect(answer.headers['content-encoding']).toBe(undefined)
    }
  })
})

test('more queries than are allowed at once are refused, not queued', async ({ http }) => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => http('SELECT sleep(1)')))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(10)
  for (const { headers } of refused) expect(headers['x-clickhouse-exception-code']).toBe('202')
  expect(await http('SELECT 1')).toMatchObject({ status: 200 })
})
