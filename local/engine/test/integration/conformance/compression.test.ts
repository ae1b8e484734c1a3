import { brotliCompressSync, brotliDecompressSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { createClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { basic, conforms, server } from './server.js'

const on = { enable_http_compression: '1' }

for (const [encoding, compress, decompress] of [
  ['gzip', gzipSync, gunzipSync],
  ['deflate', deflateSync, inflateSync],
  ['br', brotliCompressSync, brotliDecompressSync],
] as const) {
  conforms(`${encoding} works both ways`, async ({ http }) => {
    const sent = await http({ body: compress('SELECT 7'), headers: { ...basic, 'Content-Encoding': encoding } })
    expect(sent.text).toBe('7\n')
    for (const rows of [3, 500_000]) {
      const query = `SELECT number FROM numbers(${rows})`
      const answer = await http({ query, url: on, headers: { ...basic, 'Accept-Encoding': encoding } })
      expect(answer.headers['content-encoding']).toBe(encoding)
      expect(decompress(answer.body).toString().split('\n')).toHaveLength(rows + 1)
    }
  })
}

// The server has to read what it compressed itself, so that no library is needed here.
for (const encoding of ['zstd', 'lz4', 'xz', 'bz2', 'snappy']) {
  conforms(`${encoding} works both ways`, async ({ http, sql }) => {
    const query = "SELECT number, repeat('x', 100) FROM numbers(20000) FORMAT TSV"
    const answer = await http({ query, url: on, headers: { ...basic, 'Accept-Encoding': encoding } })
    expect(answer.headers['content-encoding']).toBe(encoding)
    expect(answer.body.length).toBeLessThan(1_000_000)
    await sql(`CREATE TABLE packed_${encoding} (a UInt64, b String) ENGINE = MergeTree ORDER BY a`)
    await http({
      query: `INSERT INTO packed_${encoding} FORMAT TSV`,
      body: answer.body,
      headers: { ...basic, 'Content-Encoding': encoding },
    })
    expect(await sql(`SELECT count(), sum(a), sum(length(b)) FROM packed_${encoding}`)).toBe(
      '20000\t199990000\t2000000\n',
    )
  })
}

conforms('compress=1 and decompress=1 use blocks of the native protocol', async ({ http, sql }) => {
  const query = "SELECT number, repeat('x', 100) FROM numbers(20000) FORMAT RowBinary"
  const answer = await http({ query, url: { compress: '1' } })
  // 16 bytes of checksum, the method (LZ4), the sizes.
  expect(answer.body[16]).toBe(0x82)
  await sql('CREATE TABLE blocks (a UInt64, b String) ENGINE = MergeTree ORDER BY a')
  await http({ query: 'INSERT INTO blocks FORMAT RowBinary', body: answer.body, url: { decompress: '1' } })
  expect(await sql('SELECT count(), sum(a) FROM blocks')).toBe('20000\t199990000\n')
  answer.body[20] = (answer.body[20] as number) ^ 1
  const broken = await http({
    query: 'INSERT INTO blocks FORMAT RowBinary',
    body: answer.body,
    url: { decompress: '1' },
  })
  expect(broken.status).not.toBe(200)
})

conforms('the encoding is the first accepted one in the server’s own order', async ({ http }) => {
  for (const [accepted, encoding] of [
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5, br;q=0.1', 'br'],
    ['br;q=0, zstd ; q=0.000, lz4', 'lz4'],
    ['identity, gzip;q=0', undefined],
    ['x-gzip-custom', undefined],
  ] as const) {
    const answer = await http({ query: 'SELECT 1', url: on, headers: { ...basic, 'Accept-Encoding': accepted } })
    expect(answer.headers['content-encoding'], accepted).toBe(encoding)
  }
})

conforms('responses are compressed only if the client accepts it and it is enabled', async ({ http }) => {
  const accepting = { ...basic, 'Accept-Encoding': 'gzip' }
  for (const ask of [
    { headers: basic, url: on },
    { headers: accepting, url: { enable_http_compression: '0' } },
    { headers: { ...basic, 'Accept-Encoding': 'zap' }, url: on },
  ]) {
    const answer = await http({ query: 'SELECT 1', ...ask })
    expect(answer).toMatchObject({ status: 200, text: '1\n' })
    expect(answer.headers['content-encoding']).toBe(undefined)
  }
})

conforms('the client compresses both ways, and reads early and late errors', async ({ database, sql }) => {
  const { url, user, password } = server
  const compression = { request: true, response: true }
  const client = createClient({ url, username: user, password, database, compression, log: { level: 127 } })
  await sql('CREATE TABLE zipped (a UInt32) ENGINE = MergeTree ORDER BY a')
  await client.insert({ table: 'zipped', values: [{ a: 1 }, { a: 2 }], format: 'JSONEachRow' })
  const small = await client.query({ query: 'SELECT * FROM zipped ORDER BY a', format: 'JSONEachRow' })
  expect(small.response_headers['content-encoding']).toBe('gzip')
  expect(await small.json()).toEqual([{ a: 1 }, { a: 2 }])
  const large = await client.query({ query: 'SELECT number FROM numbers(400000)', format: 'JSONCompactEachRow' })
  let rows = 0
  for await (const chunk of large.stream()) rows += chunk.length
  expect(rows).toBe(400_000)
  await expect(client.query({ query: 'SELECT * FROM nowhere' })).rejects.toMatchObject({ code: '60' })
  const late = await client.query({
    query: 'SELECT number, throwIf(number = 3000000) FROM numbers(5000000)',
    format: 'JSONEachRow',
    clickhouse_settings: { max_block_size: '10000' },
  })
  const drain = async () => {
    for await (const _ of late.stream()) void _
  }
  await expect(drain()).rejects.toMatchObject({ code: '395' })
  await client.close()
})
