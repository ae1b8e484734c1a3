import { expect } from 'vitest'
import { conforms } from './server.js'

conforms('the client works as with a server', async ({ client }) => {
  expect(await client.ping()).toEqual({ success: true })
  expect(await client.ping({ select: true })).toEqual({ success: true })
  const result = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  expect(await result.json()).toEqual([{ version: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/) }])
  expect(result.response_headers['x-clickhouse-format']).toBe('JSONEachRow')
  expect(result.response_headers['x-clickhouse-query-id']).toBe(result.query_id)
})

conforms('comments, semicolons, heredocs and all kinds of quotes are parsed', async ({ sql }) => {
  expect(await sql('/* a /* nested */ one */ SELECT 1; -- the end')).toBe('1\n')
  expect(await sql('SELECT 1 # hash\n;;')).toBe('1\n')
  expect(await sql("SELECT $tag$it's; \"so\"$tag$, 'a;''b', `x;y` FROM (SELECT 2 AS `x;y`)")).toBe(
    `it\\'s; "so"\ta;\\'b\t2\n`,
  )
  expect(await sql("SELECT x'4142', b'01000011'")).toBe('AB\tC\n')
})

conforms('typographic quotation marks work as quotes', async ({ sql }) => {
  expect(await sql('SELECT ‘typographic’')).toBe('typographic\n')
})

conforms('one statement a request', async ({ http, sql }) => {
  await sql('CREATE TABLE single (a UInt8) ENGINE = Memory')
  for (const query of ['SELECT 1; DROP TABLE single', "SELECT ';' ; DROP TABLE single", 'SELECT 1;; SELECT 2']) {
    for (const ask of [{ query }, { body: query }]) {
      const answer = await http(ask)
      expect(answer, query).toMatchObject({ status: 400 })
      expect(answer.headers['x-clickhouse-exception-code']).toBe('62')
    }
  }
  expect(await sql('EXISTS single')).toBe('1\n')
})

conforms('all kinds of reading statements accept a FORMAT', async ({ sql }) => {
  await sql("CREATE TABLE kinds (a UInt8 COMMENT 'x') ENGINE = MergeTree ORDER BY a")
  for (const [query, contains] of [
    ['SHOW TABLES', '"kinds"'],
    ['DESCRIBE TABLE kinds', '"UInt8"'],
    ['SHOW CREATE TABLE kinds', 'ORDER BY a'],
    ['EXISTS TABLE kinds', '"1"'],
    ['EXPLAIN SELECT a FROM kinds', '"explain"'],
    ['EXPLAIN AST SELECT 1', 'SelectQuery'],
    ["SHOW SETTINGS LIKE 'max_block_size'", '"max_block_size"'],
    ['WITH 5 AS five SELECT five', '"5"'],
    ['FROM kinds SELECT count()', '"0"'],
    ['(SELECT 7) UNION ALL (SELECT 7)', '"7"'],
    ['SELECT 8 INTERSECT SELECT 8', '"8"'],
  ] as const) {
    expect(await sql(`${query} FORMAT JSONStringsEachRow`), query).toContain(contains)
  }
})

conforms('statements without a result have an empty body', async ({ sql }) => {
  for (const query of [
    'CREATE TABLE silent (a UInt8) ENGINE = MergeTree ORDER BY a',
    'INSERT INTO silent SELECT 1',
    'INSERT INTO silent VALUES (2)',
    'ALTER TABLE silent ADD COLUMN b UInt8',
    'OPTIMIZE TABLE silent FINAL',
    'SELECT * FROM silent FORMAT Null',
    'TRUNCATE TABLE silent',
    'DROP TABLE silent',
  ]) {
    expect(await sql(query), query).toBe('')
  }
})

conforms('refreshable views refresh on demand and report it', async ({ client, database }) => {
  for (const query of [
    'CREATE TABLE refresh_source (a UInt32) ENGINE = MergeTree ORDER BY a',
    'CREATE TABLE refresh_target (total UInt64) ENGINE = MergeTree ORDER BY total',
    'CREATE MATERIALIZED VIEW refreshed REFRESH EVERY 1 HOUR TO refresh_target AS SELECT sum(a) AS total FROM refresh_source',
    'SYSTEM WAIT VIEW refreshed',
    'INSERT INTO refresh_source SELECT number FROM numbers(5)',
    'SYSTEM REFRESH VIEW refreshed',
    'SYSTEM WAIT VIEW refreshed',
  ]) {
    await client.command({ query })
  }
  const rows = async (query: string) => (await client.query({ query, format: 'JSONEachRow' })).json()
  expect(await rows('SELECT toUInt32(total) AS total FROM refresh_target')).toEqual([{ total: 10 }])
  expect(await rows(`SELECT status, exception FROM system.view_refreshes WHERE database = '${database}'`)).toEqual([
    { status: 'Scheduled', exception: '' },
  ])
})

conforms('a parameterised view takes its arguments', async ({ sql }) => {
  await sql('CREATE VIEW above AS SELECT number FROM numbers(5) WHERE number > {least: UInt64}')
  expect(await sql('SELECT * FROM above(least = 2)')).toBe('3\n4\n')
})

conforms('clients cannot use OUTFILE and INFILE', async ({ http, sql }) => {
  await sql('CREATE TABLE from_file (a String) ENGINE = Memory')
  for (const query of [
    "SELECT 1 INTO OUTFILE '/tmp/conformance-outfile'",
    "INSERT INTO from_file FROM INFILE '/etc/hostname' FORMAT LineAsString",
  ]) {
    expect((await http(query)).status, query).toBeGreaterThanOrEqual(400)
  }
  expect(await sql('SELECT count() FROM from_file')).toBe('0\n')
})

conforms('queryID() returns the id of the request', async ({ sql }) => {
  expect(await sql('SELECT queryID()', { query_id: 'conformance-own-id' })).toBe('conformance-own-id\n')
})

conforms('fifty concurrent queries each use their own parameters and settings', async ({ client }) => {
  const ask = async (n: number) => {
    const query = "SELECT {n: UInt32} AS n, getSetting('log_comment') AS comment"
    const clickhouse_settings = { log_comment: `comment ${n}` }
    const result = await client.query({ query, query_params: { n }, clickhouse_settings, format: 'JSONEachRow' })
    return (await result.json())[0]
  }
  const asked = Array.from({ length: 300 }, (_, n) => n)
  expect(await Promise.all(asked.map(ask))).toEqual(asked.map((n) => ({ n, comment: `comment ${n}` })))
})

conforms('a large result streams: its first rows arrive before its last are computed', async ({ client }) => {
  const result = await client.query({ query: 'SELECT number FROM numbers(2000000)', format: 'JSONEachRow' })
  let rows = 0
  for await (const chunk of result.stream()) rows += chunk.length
  expect(rows).toBe(2_000_000)
  const endless = await client.query({ query: 'SELECT number FROM system.numbers', format: 'JSONEachRow' })
  for await (const chunk of endless.stream()) {
    expect(Number(chunk[0]?.json<{ number: number }>().number)).toBe(0)
    break
  }
  endless.close()
})
