import { Readable } from 'node:stream'
import type { ClickHouseSettings } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { clientOf, test } from './engine.js'

const tables = [
  'CREATE DATABASE IF NOT EXISTS core',
  `CREATE TABLE core.samples (token String, block UInt64, deviation Int32) ENGINE = MergeTree ORDER BY (token, block)
   SETTINGS non_replicated_deduplication_window = 100`,
  `CREATE TABLE core.counts (token String, samples SimpleAggregateFunction(sum, UInt64), spread AggregateFunction(stddevPop, Float64))
   ENGINE = AggregatingMergeTree ORDER BY token SETTINGS non_replicated_deduplication_window = 100`,
  `CREATE MATERIALIZED VIEW core.counts_mv TO core.counts AS
   SELECT token, count() AS samples, stddevPopState(toFloat64(deviation)) AS spread FROM core.samples GROUP BY token`,
]

test('the client cannot tell it from a server', async ({ client }) => {
  expect(await client.ping()).toEqual({ success: true })
  expect(await client.ping({ select: true })).toEqual({ success: true })
  const result = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  expect(await result.json()).toEqual([{ version: expect.stringMatching(/^26\.\d+\.\d+\.\d+$/) }])
  expect(result.response_headers['x-clickhouse-format']).toBe('JSONEachRow')
  expect(result.response_headers['x-clickhouse-query-id']).toBe(result.query_id)
})

test('rows inserted twice under one token count once, in the table and in its view', async ({ client }) => {
  for (const query of tables) await client.command({ query })
  const values = [
    { token: 'a', block: '1', deviation: -4 },
    { token: 'a', block: '2', deviation: 6 },
    { token: 'b', block: '2', deviation: 0 },
  ]
  for (const token of ['batch 1', 'batch 1', 'batch 2']) {
    const { summary } = await client.insert({
      table: 'core.samples',
      values,
      format: 'JSONEachRow',
      clickhouse_settings: { insert_deduplication_token: token, deduplicate_blocks_in_dependent_materialized_views: 1 },
    })
    expect(summary).toMatchObject({ written_rows: '3' })
  }
  const query = `SELECT token, toUInt32(sum(samples)) AS samples, stddevPopMerge(spread) AS spread FROM core.counts GROUP BY token ORDER BY token`
  const rows = await client.query({ query, format: 'JSONEachRow' })
  expect(await rows.json()).toEqual([
    { token: 'a', samples: 4, spread: 5 },
    { token: 'b', samples: 2, spread: 0 },
  ])
})

test('refreshable views refresh on demand and report it', async ({ client }) => {
  for (const query of [
    'CREATE DATABASE refresh',
    'CREATE TABLE refresh.source (a UInt32) ENGINE = MergeTree ORDER BY a',
    'CREATE TABLE refresh.target (total UInt64) ENGINE = MergeTree ORDER BY total',
    'CREATE MATERIALIZED VIEW refresh.view REFRESH EVERY 1 HOUR TO refresh.target AS SELECT sum(a) AS total FROM refresh.source',
    'SYSTEM WAIT VIEW refresh.view',
    'INSERT INTO refresh.source SELECT number FROM numbers(5)',
    'SYSTEM REFRESH VIEW refresh.view',
    'SYSTEM WAIT VIEW refresh.view',
  ]) {
    await client.command({ query })
  }
  const target = await client.query({
    query: 'SELECT toUInt32(total) AS total FROM refresh.target',
    format: 'JSONEachRow',
  })
  expect(await target.json()).toEqual([{ total: 10 }])
  const query = "SELECT status, exception FROM system.view_refreshes WHERE database = 'refresh'"
  expect(await (await client.query({ query, format: 'JSONEachRow' })).json()).toEqual([
    { status: 'Scheduled', exception: '' },
  ])
})

test('everything that the schema of a service needs is granted', async ({ client }) => {
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

test('parameters reach the engine as values', async ({ client }) => {
  const when = new Date('2026-01-02T03:04:05.678Z')
  const query_params = { n: 5, text: `a'b"c\\d\n{x: String}`, list: ["x'y", 'z\t'], when, nothing: null, map: { k: 1 } }
  const query = `SELECT {n: UInt8} AS n, {text: String} AS text, {list: Array(String)} AS list, {when: DateTime64(3)} AS when,
    {nothing: Nullable(String)} AS nothing, {map: Map(String, UInt8)} AS map`
  for (const use_multipart_params of [false, true]) {
    const result = await client.query({ query, query_params, use_multipart_params, format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ ...query_params, when: '2026-01-02 03:04:05.678' }])
  }
})

test('fifty at once each get their own parameters and settings', async ({ engine }) => {
  const client = clientOf(engine.url, { max_open_connections: 20 })
  const ask = async (n: number) => {
    const query = "SELECT {n: UInt32} AS n, getSetting('log_comment') AS comment"
    const clickhouse_settings = { log_comment: `comment ${n}` }
    const result = await client.query({ query, query_params: { n }, clickhouse_settings, format: 'JSONEachRow' })
    return (await result.json())[0]
  }
  const asked = Array.from({ length: 300 }, (_, n) => n)
  expect(await Promise.all(asked.map(ask))).toEqual(asked.map((n) => ({ n, comment: `comment ${n}` })))
  await client.close()
})

describe('errors', () => {
  test.for([
    ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE'],
    ['SELECT 1 FROM FROM FROM', '62'],
    ['SELEC 1', '62'],
    ['SELECT nothing', '47', 'UNKNOWN_IDENTIFIER'],
    ['SELECT throwIf(1)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    ['SELECT 1 FORMAT Nope', '73', 'UNKNOWN_FORMAT'],
    ['SELECT 1 SETTINGS no_such_setting = 1', '115', 'UNKNOWN_SETTING'],
  ] as const)('%s', async ([query, code, type], { client }) => {
    const failed = client.exec({ query })
    await expect(failed).rejects.toMatchObject(type ? { code, type } : { code })
    await expect(failed).rejects.not.toThrow(/OUTFILE|pipe-/)
  })

  test('unknown settings, databases and bad rows are told as the server tells them', async ({ client, engine }) => {
    const unknown = client.query({
      query: 'SELECT 1',
      clickhouse_settings: { no_such_setting: 1 } as ClickHouseSettings,
    })
    await expect(unknown).rejects.toMatchObject({ code: '115' })
    const elsewhere = clientOf(engine.url, { database: 'nowhere' })
    await expect(elsewhere.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '81' })
    await elsewhere.close()
    await client.command({ query: 'CREATE TABLE IF NOT EXISTS numbers_only (a UInt8) ENGINE = Memory' })
    const values = [{ a: 1 }, { a: 'x' }]
    const insert = client.insert({ table: 'numbers_only', values, format: 'JSONEachRow' })
    await expect(insert).rejects.toMatchObject({ code: '27' })
    await expect(insert).rejects.not.toThrow(/rows-\d/)
  })

  test('an error after the first rows ends the stream with it', async ({ client }) => {
    const query = 'SELECT number, throwIf(number = 3000000) FROM numbers(5000000)'
    const result = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: { max_block_size: '10000' },
    })
    const drain = async () => {
      for await (const _ of result.stream()) void _
    }
    await expect(drain()).rejects.toMatchObject({ code: '395' })
  })
})

test('formats make the round trip, text and binary', async ({ client }) => {
  await client.command({
    query:
      'CREATE TABLE formats (a UInt32, b String, c Array(Nullable(Float64)), d DateTime64(3)) ENGINE = MergeTree ORDER BY a',
  })
  const rows = `SELECT toUInt32(number) AS a, concat('é\n\n"', toString(number)) AS b, [1.5, NULL] AS c, toDateTime64(number, 3) AS d FROM numbers(1000)`
  const hash = 'sum(cityHash64(a, b, toString(c), d))'
  const [expected] = await (
    await client.query({ query: `SELECT ${hash} AS h FROM (${rows})`, format: 'JSONEachRow' })
  ).json()
  const formats = [
    'Native',
    'RowBinary',
    'RowBinaryWithNamesAndTypes',
    'Parquet',
    'Arrow',
    'ArrowStream',
    'ORC',
    'Avro',
    'MsgPack',
  ]
  const texts = [
    'JSON',
    'JSONEachRow',
    'JSONCompactEachRow',
    'JSONColumns',
    'CSV',
    'CSVWithNames',
    'TabSeparated',
    'TSKV',
    'Values',
  ]
  for (const format of [...formats, ...texts]) {
    const { stream } = await client.exec({ query: `${rows} FORMAT ${format}` })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    await client.command({ query: 'TRUNCATE TABLE formats' })
    const values = Readable.from([Buffer.concat(chunks)])
    const inserted = await client.exec({ query: `INSERT INTO formats FORMAT ${format}`, values })
    for await (const _ of inserted.stream) void _
    const [actual] = await (
      await client.query({ query: `SELECT ${hash} AS h FROM formats`, format: 'JSONEachRow' })
    ).json()
    expect(actual, format).toEqual(expected)
  }
})

test('compression works in both directions, for errors too', async ({ engine }) => {
  const client = clientOf(engine.url, { compression: { request: true, response: true } })
  await client.command({ query: 'CREATE TABLE zipped (a UInt32) ENGINE = MergeTree ORDER BY a' })
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

test('a session keeps what SET, USE and temporary tables say, and nothing that came with one request', async ({
  client,
}) => {
  const session_id = 'test-session'
  const ask = async (query: string, clickhouse_settings = {}) =>
    (await client.query({ query, session_id, format: 'JSONEachRow', clickhouse_settings })).json()
  await client.command({ query: 'CREATE TEMPORARY TABLE held (a UInt8)', session_id })
  await client.command({ query: 'INSERT INTO held VALUES (7)', session_id })
  await client.command({ query: 'SET max_threads = 3', session_id })
  expect(await ask("SELECT a, getSetting('max_block_size') AS b FROM held", { max_block_size: '123' })).toEqual([
    { a: 7, b: 123 },
  ])
  expect(await ask("SELECT getSetting('max_threads') AS t, getSetting('max_block_size') AS b")).toEqual([
    { t: 3, b: 65409 },
  ])
  await expect(client.query({ query: 'SELECT * FROM held' })).rejects.toMatchObject({ code: '60' })
  const both = [1, 2].map(() => client.command({ query: 'SELECT sleep(0.3)', session_id }))
  const outcomes = await Promise.allSettled(both)
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})
