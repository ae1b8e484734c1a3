import { expect } from 'vitest'
import { basic, credentials, test } from './engine.js'

// Tests of behaviour that any ClickHouse has are in conformance/; these are for this server alone.

test('users have every right that the schema of a service needs', async ({ client }) => {
  for (const query of [
    'CREATE DATABASE grants',
    'CREATE TABLE grants.t (a UInt32, b String) ENGINE = MergeTree PARTITION BY a % 2 ORDER BY a',
    'CREATE TABLE grants.u AS grants.t',
    'ALTER TABLE grants.t ADD COLUMN c UInt8 DEFAULT 1',
    'ALTER TABLE grants.t DROP COLUMN c',
    "INSERT INTO grants.t VALUES (1, 'x'), (2, 'y'), (3, concat('a', 'b')), (4, toString(now()))",
    'DELETE FROM grants.t WHERE a = 1',
    'ALTER TABLE grants.t DELETE WHERE a = 2 SETTINGS mutations_sync = 1',
    "ALTER TABLE grants.t UPDATE b = 'z' WHERE a = 3 SETTINGS mutations_sync = 1",
    'ALTER TABLE grants.t DROP PARTITION 0',
    'OPTIMIZE TABLE grants.t FINAL',
    'EXCHANGE TABLES grants.t AND grants.u',
    'RENAME TABLE grants.u TO grants.v',
    'TRUNCATE TABLE grants.v',
    'ALTER TABLE grants.v ADD PROJECTION p (SELECT b, count() GROUP BY b)',
    'CREATE VIEW grants.p AS SELECT * FROM grants.t WHERE a = {a: UInt32}',
    'SELECT * FROM grants.p(a = 1) FORMAT Null',
    'CREATE FUNCTION embedded_plus AS (x) -> x + 1',
    'DROP FUNCTION embedded_plus',
    "CREATE DICTIONARY grants.d (a UInt64, b String) PRIMARY KEY a SOURCE(CLICKHOUSE(TABLE 'v' DB 'grants')) LAYOUT(FLAT()) LIFETIME(0)",
    'SYSTEM RELOAD DICTIONARY grants.d',
    "KILL QUERY WHERE query_id = 'none'",
    'SYSTEM STOP VIEWS',
    'SYSTEM START VIEWS',
    'SYSTEM STOP MERGES grants.v',
    'SYSTEM START MERGES grants.v',
    'SELECT count() FROM system.parts FORMAT Null',
    'SELECT count() FROM system.columns FORMAT Null',
    'DROP DATABASE grants SYNC',
  ]) {
    await expect(client.command({ query }), query).resolves.toBeDefined()
  }
})

test('malformed URLs, headers and encodings get a response', async ({ http }) => {
  expect(await http({ path: '/x//y', query: 'SELECT 1' })).toMatchObject({ status: 404 })
  const unknown = await http({ body: 'SELECT 1', headers: { ...basic, 'Content-Encoding': 'zap' } })
  expect(unknown.status).toBe(501)
  const broken = await http({ body: 'SELECT 1', headers: { ...basic, 'Content-Encoding': 'gzip' } })
  expect(broken.status).toBe(500)
  expect(await http({ body: Buffer.from([0x53, 0xff, 0xfe]) })).toMatchObject({ status: 400 })
  expect(await http({ body: 'SELECT 1 \0' })).toMatchObject({ status: 400 })
  expect(await http('SELECT 1')).toMatchObject({ status: 200 })
})

test('a corrupt body that is not read does no harm', async ({ http }) => {
  for (const encoding of ['gzip', 'deflate', 'br', 'lz4', 'zstd']) {
    const headers = { ...basic, 'Content-Encoding': encoding }
    for (const query of [
      'INSERT INTO nowhere FORMAT CSV',
      'INSERT INTO x FROM INFILE',
      'SELECT 1; SELECT 2',
      'SELECT 1',
    ]) {
      const ask = { query, body: Buffer.alloc(100_000, 'broken'), headers }
      const answer = await http(ask)
      expect(answer.status, `${encoding} ${query}`).toBeGreaterThanOrEqual(400)
    }
  }
  expect(await http('SELECT 1')).toMatchObject({ status: 200 })
})

test('the error for wrong credentials reveals nothing about the right ones', async ({ http }) => {
  const { user, password } = credentials
  const encoded = (name: string, key: string) => `Basic ${Buffer.from(`${name}:${key}`).toString('base64')}`
  for (const ask of [
    { headers: {} },
    { headers: { Authorization: encoded(user, '') } },
    { headers: { Authorization: encoded('other', password) } },
    { headers: { Authorization: 'Basic ???' } },
    { headers: { Authorization: 'Bearer x' } },
    { headers: {}, url: { user, password: `${password}x` } },
  ]) {
    const answer = await http({ query: 'SELECT 1', ...ask })
    expect(answer, JSON.stringify(ask)).toMatchObject({ status: 403 })
    expect(answer.text).not.toContain(password)
  }
})

test('errors do not reveal the pipes and files that a statement uses', async ({ http }) => {
  await http('CREATE TABLE numbers_only (a UInt8) ENGINE = Memory')
  for (const ask of [
    { query: 'SELECT 1 FROM FROM FROM' },
    { query: 'SELECT 1 FORMAT Nope' },
    { query: 'SELECT throwIf(1)' },
    { query: 'SELECT * FROM nowhere' },
    { query: 'INSERT INTO numbers_only FORMAT CSV', body: 'x' },
    { query: 'INSERT INTO nowhere FORMAT CSV', body: '1' },
    { query: 'INSERT INTO numbers_only FORMAT CSV', body: `${'1\n'.repeat(3_000_000)}x` },
  ]) {
    const answer = await http(ask)
    expect(answer.status, ask.query).toBeGreaterThanOrEqual(400)
    expect(answer.text, ask.query).not.toMatch(/OUTFILE '|INFILE '|pipe-\d|rows-\d/)
  }
})

test('queries beyond the limit are refused, not queued', async ({ http }) => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => http('SELECT sleep(3)')))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(10)
  for (const { headers } of refused) expect(headers['x-clickhouse-exception-code']).toBe('202')
  expect(await http('SELECT 1')).toMatchObject({ status: 200 })
})

test('a page of another origin can read responses only if the request allows it', async ({ http }) => {
  const headers = { ...basic, Origin: 'http://elsewhere' }
  const preflight = await http({ method: 'OPTIONS', headers })
  expect(preflight).toMatchObject({ status: 200, text: '' })
  expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
  expect((await http({ query: 'SELECT 1', headers })).headers['access-control-allow-origin']).toBeUndefined()
})

test('Native with a protocol version is refused instead of sent without that version’s fields', async ({ http }) => {
  const url = { client_protocol_version: '54460' }
  expect(await http({ query: 'SELECT 1 FORMAT Native', url })).toMatchObject({ status: 501 })
  expect(await http({ query: 'SELECT 1', url })).toMatchObject({ status: 200, text: '1\n' })
})

test('the content type of a format does not depend on its case', async ({ http }) => {
  const { headers } = await http('SELECT 1 FORMAT jsoncompact')
  expect(headers['content-type']).toBe('application/json; charset=UTF-8')
})
