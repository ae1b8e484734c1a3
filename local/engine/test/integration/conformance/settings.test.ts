import type { ClickHouseSettings } from '@clickhouse/client'
import { expect } from 'vitest'
import { basic, conforms } from './server.js'

conforms('settings of a request apply to it alone', async ({ sql }) => {
  const query = "SELECT getSetting('max_block_size')"
  expect(await sql(query, { max_block_size: '77' })).toBe('77\n')
  expect(await sql(query)).toBe('65409\n')
  expect(await sql(`${query} SETTINGS max_block_size = 78`, { max_block_size: '77' })).toBe('78\n')
})

conforms('an unknown setting is error 115, a bad value is an error', async ({ client, http }) => {
  const clickhouse_settings = { no_such_setting: 1 } as ClickHouseSettings
  await expect(client.query({ query: 'SELECT 1', clickhouse_settings })).rejects.toMatchObject({ code: '115' })
  expect(await http({ query: 'SELECT 1', url: { max_block_size: 'many' } })).toMatchObject({ status: 400 })
})

conforms('GET reads and does not write', async ({ http, sql }) => {
  expect(await http({ query: 'SELECT 1', method: 'GET' })).toMatchObject({ status: 200, text: '1\n' })
  const answer = await http({ query: 'CREATE TABLE got (a UInt8) ENGINE = Memory', method: 'GET' })
  expect(answer.headers['x-clickhouse-exception-code']).toBe('164')
  expect(await sql('EXISTS got')).toBe('0\n')
})

conforms('readonly=1 forbids writing and changing settings, readonly=2 only writing', async ({ http, sql }) => {
  await sql('CREATE TABLE guarded (a UInt8) ENGINE = Memory')
  for (const readonly of ['1', '2']) {
    for (const query of ['CREATE TABLE w (a UInt8) ENGINE = Memory', 'INSERT INTO guarded VALUES (1)']) {
      const answer = await http({ query, url: { readonly } })
      expect(answer.headers['x-clickhouse-exception-code'], `${readonly} ${query}`).toBe('164')
    }
  }
  const query = "SELECT getSetting('max_threads') SETTINGS max_threads = 3"
  expect(await sql(query, { readonly: '2' })).toBe('3\n')
  const forbidden = await http({ query, url: { readonly: '1' } })
  expect(forbidden.headers['x-clickhouse-exception-code']).toBe('164')
})

conforms('max_execution_time ends a query with error 159', async ({ http }) => {
  const answer = await http({ query: 'SELECT count() FROM system.numbers', url: { max_execution_time: '0.3' } })
  expect(answer.headers['x-clickhouse-exception-code']).toBe('159')
})

conforms('max_memory_usage ends a query with error 241', async ({ http }) => {
  const query = 'SELECT uniqExact(number) FROM numbers(20000000)'
  const answer = await http({ query, url: { max_memory_usage: '20000000' } })
  expect(answer).toMatchObject({ status: 500 })
  expect(answer.headers['x-clickhouse-exception-code']).toBe('241')
})

conforms('max_result_rows refuses or truncates a result, depending on result_overflow_mode', async ({ http, sql }) => {
  const query = 'SELECT number FROM numbers(100)'
  const refused = await http({ query, url: { max_result_rows: '10' } })
  expect(refused.headers['x-clickhouse-exception-code']).toBe('396')
  const rows = await sql(query, { max_result_rows: '10', result_overflow_mode: 'break', max_block_size: '5' })
  expect(rows.split('\n')).toHaveLength(10 + 1)
})

conforms('settings of the output format change the result', async ({ sql }) => {
  const query = "SELECT 1::UInt64 AS a, toDateTime64('2026-01-02 03:04:05.678', 3, 'UTC') AS t FORMAT JSONEachRow"
  expect(await sql(query, { output_format_json_quote_64bit_integers: '1', date_time_output_format: 'iso' })).toBe(
    '{"a":"1","t":"2026-01-02T03:04:05.678Z"}\n',
  )
  expect(await sql('SELECT NULL FORMAT CSV', { format_csv_null_representation: 'nil' })).toBe('nil\n')
  expect(await sql('SELECT 1, 2 FORMAT CSV', { format_csv_delimiter: '|' })).toBe('1|2\n')
})

conforms('session_timezone sets the time zone of the query and of its header', async ({ http }) => {
  const query = 'SELECT toString(toDateTime(0)), timezone()'
  const answer = await http({ query, url: { session_timezone: 'Asia/Tokyo' } })
  expect(answer.text).toBe('1970-01-01 09:00:00\tAsia/Tokyo\n')
  expect(answer.headers['x-clickhouse-timezone']).toBe('Asia/Tokyo')
})

conforms('http_response_headers adds headers', async ({ http }) => {
  const url = { http_response_headers: "{'X-Custom': 'yes', 'Cache-Control': 'no-store'}" }
  const { headers } = await http({ query: 'SELECT 1', url })
  expect(headers).toMatchObject({ 'x-custom': 'yes', 'cache-control': 'no-store' })
})

conforms('add_http_cors_header allows the origin of the request', async ({ http }) => {
  const headers = { ...basic, Origin: 'https://dashboard.example' }
  const answer = await http({ query: 'SELECT 1', url: { add_http_cors_header: '1' }, headers })
  expect(answer.headers['access-control-allow-origin']).toBe('*')
})
