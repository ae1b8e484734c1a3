import { expect } from 'vitest'
import { basic, conforms } from './server.js'

conforms('parameters are passed to the engine as values', async ({ client }) => {
  const when = new Date('2026-01-02T03:04:05.678Z')
  const query_params = { n: 5, text: `a'b"c\\d\n{x: String}`, list: ["x'y", 'z\t'], when, nothing: null, map: { k: 1 } }
  const query = `SELECT {n: UInt8} AS n, {text: String} AS text, {list: Array(String)} AS list,
    {when: DateTime64(3, 'UTC')} AS when, {nothing: Nullable(String)} AS nothing, {map: Map(String, UInt8)} AS map`
  for (const use_multipart_params of [false, true]) {
    const result = await client.query({ query, query_params, use_multipart_params, format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ ...query_params, when: '2026-01-02 03:04:05.678' }])
  }
})

conforms('parameter values are escaped as in TSV', async ({ http, sql }) => {
  expect(await sql('SELECT hex({p: String})', { param_p: 'abc\\t123' })).toBe('61626309313233\n')
  expect(await sql('SELECT hex({p: String})', { param_p: 'a\\\\b' })).toBe('615C62\n')
  const raw = await http({ query: 'SELECT {p: String}', url: { param_p: 'abc\t123' } })
  expect(raw.headers['x-clickhouse-exception-code']).toBe('457')
})

conforms('a parameter can name a table, a column or a database', async ({ sql, database }) => {
  await sql('CREATE TABLE named (col UInt8) ENGINE = Memory')
  await sql('INSERT INTO named VALUES (9)')
  const url = { param_d: database, param_t: 'named', param_c: 'col' }
  expect(await sql('SELECT {c: Identifier} FROM {d: Identifier}.{t: Identifier}', url)).toBe('9\n')
})

conforms('a missing parameter and a value of the wrong type are errors', async ({ http }) => {
  const missing = await http('SELECT {p: UInt8}')
  expect(missing.headers['x-clickhouse-exception-code']).toBe('456')
  const wrong = await http({ query: 'SELECT {p: UInt8}', url: { param_p: 'many' } })
  expect(wrong.headers['x-clickhouse-exception-code']).toBe('457')
})

conforms('parameters work in inserts and DDL', async ({ sql }) => {
  await sql('CREATE TABLE {t: Identifier} (a String) ENGINE = Memory', { param_t: 'parametrised' })
  await sql('INSERT INTO {t: Identifier} SELECT {v: String}', { param_t: 'parametrised', param_v: "it's" })
  expect(await sql('SELECT a FROM parametrised')).toBe("it\\'s\n")
})

conforms('a parameter is a value and never SQL', async ({ sql }) => {
  const param_p = "'; DROP TABLE x; --"
  expect(await sql('SELECT length({p: String})', { param_p })).toBe(`${param_p.length}\n`)
})

conforms('parts of a multipart body are the query and its parameters', async ({ http }) => {
  const boundary = 'xxx'
  const part = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const body = `${part('query', 'SELECT {a: String}, {b: UInt8}')}${part('param_a', 'x;y')}${part('param_b', '3')}--${boundary}--\r\n`
  const headers = { ...basic, 'Content-Type': `multipart/form-data; boundary=${boundary}` }
  expect(await http({ body, headers })).toMatchObject({ status: 200, text: 'x;y\t3\n' })
})

conforms('parts of a multipart body with a structure are external tables', async ({ curl }) => {
  const query = 'SELECT shell, count() AS c FROM passwd GROUP BY shell ORDER BY c DESC, shell'
  const rows = 'root\t/bin/bash\nsys\t/bin/sh\nbin\t/bin/sh\n'
  expect(
    await curl(['-F', `passwd=${rows};filename=passwd.tsv`], { query, passwd_structure: 'login String, shell String' }),
  ).toBe('/bin/sh\t2\n/bin/bash\t1\n')
})
