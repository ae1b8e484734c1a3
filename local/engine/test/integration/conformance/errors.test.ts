import { createClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { conforms, server } from './server.js'

/** Statement, code, name, and the HTTP status of src/Server/HTTP/exceptionCodeToHTTPStatus.cpp. */
const failures = [
  ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE', 404],
  ['SELECT * FROM nowhere.nothing', '81', 'UNKNOWN_DATABASE', 404],
  ['SELECT 1 FROM FROM FROM', '62', 'SYNTAX_ERROR', 400],
  ['SELEC 1', '62', 'SYNTAX_ERROR', 400],
  ["SELECT 'unclosed", '62', 'SYNTAX_ERROR', 400],
  ['SELECT nothing', '47', 'UNKNOWN_IDENTIFIER', 404],
  ['SELECT no_such_function(1)', '46', 'UNKNOWN_FUNCTION', 404],
  ['SELECT throwIf(1)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', 500],
  ['SELECT 1 FORMAT Nope', '73', 'UNKNOWN_FORMAT', 404],
  ['SELECT 1 SETTINGS no_such_setting = 1', '115', 'UNKNOWN_SETTING', 404],
  ["SELECT 1 + 'x'", '43', 'ILLEGAL_TYPE_OF_ARGUMENT', 500],
  ["SELECT toUInt8('x')", '6', 'CANNOT_PARSE_TEXT', 400],
  ['SELECT toInt8(1, 2, 3)', '42', 'NUMBER_OF_ARGUMENTS_DOESNT_MATCH', 500],
  ['CREATE TABLE bad (a Nope) ENGINE = Memory', '50', 'UNKNOWN_TYPE', 404],
  ['CREATE TABLE bad (a UInt8) ENGINE = Nope', '56', 'UNKNOWN_STORAGE', 404],
  ['DROP TABLE nowhere', '60', 'UNKNOWN_TABLE', 404],
] as const

for (const [query, code, type, status] of failures) {
  conforms(`error ${code} with status ${status}: ${query}`, async ({ http, client }) => {
    const answer = await http(query)
    expect(answer).toMatchObject({ status, headers: { 'x-clickhouse-exception-code': code } })
    expect(answer.text).toMatch(
      new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]*\\(${type}\\) \\(version [^)]+\\)\\n$`),
    )
    await expect(client.exec({ query })).rejects.toMatchObject({ code })
  })
}

conforms('a table that already exists is error 57', async ({ sql, http }) => {
  await sql('CREATE TABLE twice (a UInt8) ENGINE = Memory')
  const answer = await http('CREATE TABLE twice (a UInt8) ENGINE = Memory')
  expect(answer.headers['x-clickhouse-exception-code']).toBe('57')
})

conforms('an unknown database is error 81', async () => {
  const { url, user, password } = server
  const elsewhere = createClient({ url, username: user, password, database: 'nowhere', log: { level: 127 } })
  await expect(elsewhere.query({ query: 'SELECT 1' })).rejects.toMatchObject({ code: '81' })
  await elsewhere.close()
})

conforms('rows that cannot be parsed are error 27 and store nothing', async ({ client, sql }) => {
  await sql('CREATE TABLE numbers_only (a UInt8) ENGINE = MergeTree ORDER BY a')
  const values = [{ a: 1 }, { a: 'x' }]
  const insert = client.insert({ table: 'numbers_only', values, format: 'JSONEachRow' })
  await expect(insert).rejects.toMatchObject({ code: '27' })
  expect(await sql('SELECT count() FROM numbers_only')).toBe('0\n')
})

conforms('an error after the first rows ends the stream with that error', async ({ client }) => {
  const result = await client.query({
    query: 'SELECT number, throwIf(number = 3000000) FROM numbers(5000000)',
    format: 'JSONEachRow',
    clickhouse_settings: { max_block_size: '10000' },
  })
  const drain = async () => {
    for await (const _ of result.stream()) void _
  }
  await expect(drain()).rejects.toMatchObject({ code: '395' })
})

conforms('with wait_end_of_query even a late error has its status', async ({ http }) => {
  const query = 'SELECT number, throwIf(number = 900000) FROM numbers(1000000)'
  const url = { max_block_size: '10000', wait_end_of_query: '1' }
  const answer = await http({ query, url })
  expect(answer).toMatchObject({ status: 500, text: expect.stringMatching(/^Code: 395\./) })
})

conforms('http_write_exception_in_output_format puts the error into JSON', async ({ http }) => {
  const query = 'SELECT throwIf(1, \'as "told"\') FORMAT JSON'
  const { text } = await http({ query, url: { http_write_exception_in_output_format: '1' } })
  expect(JSON.parse(text)).toMatchObject({ exception: expect.stringContaining('as "told"') })
})
