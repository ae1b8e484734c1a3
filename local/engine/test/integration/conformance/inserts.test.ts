import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { basic, conforms } from './server.js'

conforms('rows of an INSERT can be in the URL, in the body or in both', async ({ http, sql }) => {
  await sql('CREATE TABLE places (a String) ENGINE = MergeTree ORDER BY a')
  for (const ask of [
    { query: 'INSERT INTO places FORMAT CSV url' },
    { query: 'INSERT INTO places FORMAT CSV', body: 'body' },
    { query: 'INSERT INTO places FORMAT CSV part1', body: 'part2' },
    { body: 'INSERT INTO places FORMAT CSV\nwith query' },
    { query: 'INSERT INTO places', body: 'FORMAT CSV\nhead in both' },
    { query: "INSERT INTO places VALUES ('values')", body: ", ('more')" },
    { query: 'INSERT INTO places FORMAT CSV', body: '' },
  ]) {
    expect(await http(ask), JSON.stringify(ask)).toMatchObject({ status: 200, text: '' })
  }
  expect((await sql('SELECT a FROM places ORDER BY a')).trim().split('\n')).toEqual([
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

conforms('blank lines and SQL between rows are treated as rows', async ({ http, sql }) => {
  await sql('CREATE TABLE blank (a UInt32, b String) ENGINE = MergeTree ORDER BY a')
  const attack = "\n\nINSERT INTO blank VALUES (666, 'x')\n\n; DROP TABLE blank;\n"
  expect(await http({ query: 'INSERT INTO blank FORMAT CSV', body: `1,"x${attack}"\n` })).toMatchObject({ status: 200 })
  expect(await http({ query: 'INSERT INTO blank FORMAT CSV', body: `2,y${attack}` })).toMatchObject({ status: 400 })
  expect(await sql('SELECT a, length(b) FROM blank')).toBe(`1\t${attack.length + 1}\n`)
})

conforms('VALUES can be expressions, NULL and DEFAULT', async ({ sql }) => {
  await sql('CREATE TABLE expressions (a UInt32, b Nullable(String), c UInt8 DEFAULT 42) ENGINE = Memory')
  await sql("INSERT INTO expressions (a, b) VALUES (1 + 1, concat('x', 'y')), (3, NULL)")
  await sql("INSERT INTO expressions VALUES (4, 'z', DEFAULT)")
  expect(await sql('SELECT * FROM expressions ORDER BY a')).toBe('2\txy\t42\n3\t\\N\t42\n4\tz\t42\n')
})

conforms('omitted columns get their defaults', async ({ client, sql }) => {
  await sql('CREATE TABLE defaults (a UInt32, b UInt32 DEFAULT a * 2, c UInt32 MATERIALIZED a + 1) ENGINE = Memory')
  await client.insert({ table: 'defaults', values: [{ a: 1 }, { a: 2, b: 9 }], format: 'JSONEachRow' })
  await client.insert({ table: 'defaults', columns: ['a'], values: [[3]], format: 'JSONCompactEachRow' })
  await client.insert({ table: 'defaults', columns: { except: ['b'] }, values: [{ a: 4 }], format: 'JSONEachRow' })
  expect(await sql('SELECT a, b, c FROM defaults ORDER BY a')).toBe('1\t2\t2\n2\t9\t3\n3\t6\t4\n4\t8\t5\n')
})

conforms('settings of the input format take effect', async ({ http, sql }) => {
  await sql('CREATE TABLE lenient (a UInt32) ENGINE = Memory')
  const insert = (body: string, format: string, url: Record<string, string>) =>
    http({ query: `INSERT INTO lenient FORMAT ${format}`, body, url })
  expect(await insert('{"a":1,"z":2}', 'JSONEachRow', { input_format_skip_unknown_fields: '1' })).toMatchObject({
    status: 200,
  })
  expect(await insert('{"a":1,"z":2}', 'JSONEachRow', { input_format_skip_unknown_fields: '0' })).toMatchObject({
    status: 400,
  })
  expect(await insert('2\nx\n3\n', 'CSV', { input_format_allow_errors_num: '1' })).toMatchObject({ status: 200 })
  expect(await sql('SELECT a FROM lenient ORDER BY a')).toBe('1\n2\n3\n')
})

conforms('rows inserted twice with one token count once, in the table and in its view', async ({ client, sql }) => {
  await sql(`CREATE TABLE samples (token String, block UInt64, deviation Int32) ENGINE = MergeTree
    ORDER BY (token, block) SETTINGS non_replicated_deduplication_window = 100`)
  await sql(`CREATE TABLE counts (token String, samples SimpleAggregateFunction(sum, UInt64),
    spread AggregateFunction(stddevPop, Float64)) ENGINE = AggregatingMergeTree ORDER BY token
    SETTINGS non_replicated_deduplication_window = 100`)
  await sql(`CREATE MATERIALIZED VIEW counts_mv TO counts AS
    SELECT token, count() AS samples, stddevPopState(toFloat64(deviation)) AS spread FROM samples GROUP BY token`)
  const values = [
    { token: 'a', block: '1', deviation: -4 },
    { token: 'a', block: '2', deviation: 6 },
    { token: 'b', block: '2', deviation: 0 },
  ]
  for (const token of ['batch 1', 'batch 1', 'batch 2']) {
    await client.insert({
      table: 'samples',
      values,
      format: 'JSONEachRow',
      clickhouse_settings: { insert_deduplication_token: token, deduplicate_blocks_in_dependent_materialized_views: 1 },
    })
  }
  expect(
    await sql('SELECT token, sum(samples), stddevPopMerge(spread) FROM counts GROUP BY token ORDER BY token'),
  ).toBe('a\t4\t5\nb\t2\t0\n')
})

conforms('a stream of many megabytes can be inserted', async ({ client, sql }) => {
  await sql('CREATE TABLE streamed (a UInt64, b String) ENGINE = MergeTree ORDER BY a')
  const rows = function* () {
    for (let a = 0; a < 400_000; a++) yield { a, b: `some text for row ${a}` }
  }
  const { summary } = await client.insert({ table: 'streamed', values: Readable.from(rows()), format: 'JSONEachRow' })
  expect(summary).toMatchObject({ written_rows: '400000' })
  expect(await sql('SELECT count(), sum(a) FROM streamed')).toBe(`400000\t${(400_000 * 399_999) / 2}\n`)
})

conforms('INSERT … SELECT FROM input() transforms the rows', async ({ http, sql }) => {
  await sql('CREATE TABLE transformed (a UInt32, b String) ENGINE = Memory')
  const query = "INSERT INTO transformed SELECT x * 10, upper(y) FROM input('x UInt32, y String') FORMAT CSV"
  expect(await http({ query, body: '1,one\n2,two\n' })).toMatchObject({ status: 200 })
  expect(await sql('SELECT * FROM transformed ORDER BY a')).toBe('10\tONE\n20\tTWO\n')
})

conforms('async inserts with wait are stored when they are acknowledged', async ({ http, sql }) => {
  await sql('CREATE TABLE waited (a UInt32) ENGINE = MergeTree ORDER BY a')
  const url = { async_insert: '1', wait_for_async_insert: '1' }
  await Promise.all(
    [1, 2, 3].map((a) => http({ query: 'INSERT INTO waited FORMAT JSONEachRow', body: `{"a":${a}}`, url })),
  )
  expect(await sql('SELECT sum(a) FROM waited')).toBe('6\n')
})

conforms('tables named like keywords can be inserted into', async ({ http, sql }) => {
  for (const table of ['values', 'format', '`select`', 'settings']) {
    await sql(`CREATE TABLE ${table} (a UInt8) ENGINE = Memory`)
    expect(await http({ query: `INSERT INTO ${table} VALUES (1)` }), table).toMatchObject({ status: 200 })
    expect(await http({ query: `INSERT INTO ${table} FORMAT CSV`, body: '2' }), table).toMatchObject({ status: 200 })
    expect(await sql(`SELECT sum(a) FROM ${table}`)).toBe('3\n')
  }
})

conforms(
  'rows can be inserted into a table function, and through a Null table into its views',
  async ({ http, sql }) => {
    expect(await http({ query: "INSERT INTO FUNCTION null('a UInt8') FORMAT CSV", body: '1\n2\n' })).toMatchObject({
      status: 200,
    })
    await sql('CREATE TABLE entrance (a UInt8) ENGINE = Null')
    await sql('CREATE TABLE doubled (b UInt16) ENGINE = Memory')
    await sql('CREATE MATERIALIZED VIEW doubling TO doubled AS SELECT a * 2 AS b FROM entrance')
    await http({ query: 'INSERT INTO entrance FORMAT CSV', body: '1\n2\n' })
    expect(await sql('SELECT sum(b) FROM doubled')).toBe('6\n')
  },
)

conforms('a gzip body can contain the statement', async ({ http, sql }) => {
  await sql('CREATE TABLE packed (a UInt8) ENGINE = Memory')
  const body = gzipSync('INSERT INTO packed FORMAT CSV\n1\n2\n')
  await http({ body, headers: { ...basic, 'Content-Encoding': 'gzip' } })
  expect(await sql('SELECT sum(a) FROM packed')).toBe('3\n')
})
