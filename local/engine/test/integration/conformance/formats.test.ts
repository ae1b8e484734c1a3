import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { basic, conforms } from './server.js'

conforms('FORMAT overrides the header, which overrides default_format', async ({ http }) => {
  const headers = { ...basic, 'X-ClickHouse-Format': 'CSV' }
  expect(await http({ query: "SELECT 'a'", headers })).toMatchObject({ text: '"a"\n' })
  const url = { default_format: 'JSONCompactEachRow' }
  expect(await http({ query: 'SELECT 1', url })).toMatchObject({ text: '[1]\n' })
  const answer = await http({ query: 'SELECT 1 AS a FORMAT JSONEachRow', url })
  expect(answer).toMatchObject({ text: '{"a":1}\n', headers: { 'x-clickhouse-format': 'JSONEachRow' } })
})

conforms('each format has its content type', async ({ http }) => {
  for (const [format, type] of Object.entries({
    TabSeparated: 'text/tab-separated-values; charset=UTF-8',
    CSV: 'text/csv; charset=UTF-8; header=absent',
    CSVWithNames: 'text/csv; charset=UTF-8; header=present',
    JSON: 'application/json; charset=UTF-8',
    JSONEachRow: 'application/x-ndjson; charset=UTF-8',
    XML: 'application/xml; charset=UTF-8',
    Parquet: 'application/octet-stream',
    Pretty: 'text/plain; charset=UTF-8',
  })) {
    const { headers } = await http(`SELECT 1 AS a FORMAT ${format}`)
    expect(headers['content-type'], format).toBe(type)
    expect(headers['x-clickhouse-format']).toBe(format)
  }
})

conforms('JSON has meta, data, rows, totals, extremes and statistics', async ({ http }) => {
  const query =
    'SELECT number % 2 AS k, count() AS c FROM numbers(4) GROUP BY k WITH TOTALS ORDER BY k LIMIT 1 FORMAT JSON'
  const url = { extremes: '1', output_format_json_quote_64bit_integers: '1' }
  expect(JSON.parse((await http({ query, url })).text)).toMatchObject({
    meta: [
      { name: 'k', type: 'UInt8' },
      { name: 'c', type: 'UInt64' },
    ],
    data: [{ k: 0, c: '2' }],
    totals: { k: 0, c: '4' },
    extremes: { min: { k: 0, c: '2' }, max: { k: 0, c: '2' } },
    rows: 1,
    rows_before_limit_at_least: 2,
    statistics: { elapsed: expect.any(Number), rows_read: 4, bytes_read: 32 },
  })
})

conforms('JSONEachRowWithProgress has rows of progress between its rows', async ({ sql }) => {
  const slow = 'SELECT number, sleepEachRow(0.2) FROM numbers(8) SETTINGS max_block_size = 1'
  const lines = (await sql(`${slow} FORMAT JSONEachRowWithProgress`)).trim().split('\n')
  const keys = lines.map((line) => Object.keys(JSON.parse(line))[0])
  expect(keys.filter((key) => key === 'row')).toHaveLength(8)
  expect(keys.filter((key) => key === 'progress').length).toBeGreaterThan(2)
})

const binaries = [
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
  'JSONCompactEachRowWithNamesAndTypes',
  'JSONColumns',
  'JSONStringsEachRow',
  'CSV',
  'CSVWithNames',
  'TabSeparated',
  'TabSeparatedWithNamesAndTypes',
  'TSKV',
  'CustomSeparated',
  'Values',
]

for (const format of [...binaries, ...texts]) {
  conforms(`${format} survives a round trip`, async ({ client, sql }) => {
    const table = `trip_${format.toLowerCase()}`
    await sql(`CREATE TABLE ${table} (a UInt32, b String, c Array(Nullable(Float64)), d DateTime64(3, 'UTC'))
      ENGINE = MergeTree ORDER BY a`)
    const rows = `SELECT toUInt32(number) AS a, concat('é\\n\\n"', toString(number)) AS b, [1.5, NULL] AS c,
      toDateTime64(number, 3, 'UTC') AS d FROM numbers(1000)`
    const hash = 'sum(cityHash64(a, b, toString(c), d))'
    const { stream } = await client.exec({ query: `${rows} FORMAT ${format}` })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    const values = Readable.from([Buffer.concat(chunks)])
    const inserted = await client.exec({ query: `INSERT INTO ${table} FORMAT ${format}`, values })
    for await (const _ of inserted.stream) void _
    expect(await sql(`SELECT ${hash} FROM ${table}`)).toBe(await sql(`SELECT ${hash} FROM (${rows})`))
  })
}

conforms('an empty result is a complete document in every format', async ({ sql }) => {
  const none = (format: string) => sql(`SELECT 1 AS a WHERE 0 FORMAT ${format}`)
  expect(JSON.parse(await none('JSON'))).toMatchObject({ data: [], rows: 0 })
  expect(await none('JSONEachRow')).toBe('')
  expect(await none('CSVWithNames')).toBe('"a"\n')
  expect(await none('XML')).toContain('</result>')
  expect((await none('Parquet')).endsWith('PAR1')).toBe(true)
})
