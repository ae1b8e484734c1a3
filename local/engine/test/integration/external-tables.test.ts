import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { basic, httpTo, start, test, withDirectory } from './engine.js'

type Part = { name: string; filename?: string; content: string | Buffer }

const boundary = 'b-o u_n:d'

/** A form as curl -F and client libraries send it. */
function form(...parts: Part[]): { body: Buffer; headers: Record<string, string> } {
  const pieces = parts.flatMap(({ name, filename, content }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(filename === undefined ? '\r\n\r\n' : `; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
  const headers = { ...basic, 'Content-Type': `multipart/form-data; boundary="${boundary}"` }
  return { body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]), headers }
}

const file = (name: string, content: string | Buffer): Part => ({ name, filename: `${name}.txt`, content })

describe('external tables', () => {
  test('exist for one query, and are described in the URL or in the form', async ({ http }) => {
    const url = { a_structure: 'id UInt32, name LowCardinality(String)', a_format: 'CSV' }
    const join = form(
      { name: 'b_types', content: "UInt32, Enum8('x,y' = 1, 'z' = 2)" },
      file('a', '1,one\n2,"two\n\nSELECT 3"\n'),
      file('b', '1\tx,y\n2\tz\n'),
      { name: 'query', content: 'SELECT name, _2 FROM a JOIN b ON a.id = b._1 WHERE id > {low: UInt8} ORDER BY id' },
      { name: 'param_low', content: '0' },
    )
    expect(await http({ url, ...join })).toMatchObject({ status: 200, text: 'one\tx,y\ntwo\\n\\nSELECT 3\tz\n' })
    expect(await http('EXISTS TEMPORARY TABLE a')).toMatchObject({ text: '0\n' })
    const read = form(file('a', '7,x\n'))
    expect(await http({ query: 'SELECT * FROM a', url, ...read })).toMatchObject({ text: '7\tx\n' })
  })

  test('work with read-only queries, settings, compression and sessions', async ({ http, dataDir }) => {
    const { body, headers } = form(file('s', '1;2\n3;4\n'))
    const url = { s_structure: 'a UInt8, b UInt8', s_format: 'CSV', format_csv_delimiter: ';' }
    const query = 'SELECT sum(a), sum(b) FROM s'
    const answer = { status: 200, text: '4\t6\n' }
    expect(await http({ query, url: { ...url, readonly: '2' }, body, headers })).toMatchObject(answer)
    const zipped = { query, url, body: gzipSync(body), headers: { ...headers, 'Content-Encoding': 'gzip' } }
    expect(await http(zipped)).toMatchObject(answer)
    const session = { session_id: 'with-tables' }
    for (let i = 0; i < 2; i++) {
      expect(await http({ query, url: { ...url, ...session }, body, headers })).toMatchObject(answer)
    }
    await http({ query: 'CREATE TEMPORARY TABLE s (a UInt8)', url: session })
    const taken = await http({ query, url: { ...url, ...session }, body, headers })
    expect(taken.headers['x-clickhouse-exception-code']).toBe('57')
    expect(await http({ query: 'SELECT count() FROM s', url: session })).toMatchObject({ text: '0\n' })
    expect((await readdir(join(dataDir, 'pipes'))).filter((name) => name.startsWith('rows'))).toEqual([])
  })

  test('can be large, and bytes that look like a boundary are content', async ({ http }) => {
    const line = `x--${boundary}\r\n--${boundary.slice(0, -1)}\r\n--\r\n`
    const tricky = Buffer.from(line.repeat(200_000))
    const { body, headers } = form(file('t', tricky), file('u', ''))
    const described = { t_structure: 's String', t_format: 'RawBLOB', u_structure: 's String', u_format: 'RawBLOB' }
    const url = { ...described, param_line: line.replaceAll('\r\n', '\\r\\n') }
    const query = 'SELECT length(s), s = repeat({line: String}, 200000) FROM t'
    expect(await http({ query, url, body, headers })).toMatchObject({ text: `${tricky.length}\t1\n` })
  })

  test('that are invalid give an error that says so', async ({ http, dataDir }) => {
    const ask = async (url: Record<string, string>, { body, headers } = form(file('w', '1\n'))) => {
      const answer = await http({ query: 'SELECT * FROM w', url, body, headers })
      return Number(answer.headers['x-clickhouse-exception-code'])
    }
    expect(await ask({})).toBe(36)
    expect(await ask({ w_structure: 'a Nope' })).toBe(50)
    expect(await ask({ w_structure: 'a UInt8', w_format: 'Nope' })).toBe(73)
    expect(await ask({ w_structure: 'a UInt8' }, form(file('w', 'x\n')))).toBe(27)
    expect(await ask({}, form({ name: 'query', content: '' }))).toBe(60)
    const cut = form(file('w', '1\n'))
    expect(await ask({ w_structure: 'a UInt8' }, { ...cut, body: cut.body.subarray(0, -10) })).toBe(33)
    expect((await readdir(join(dataDir, 'pipes'))).filter((name) => name.startsWith('rows'))).toEqual([])
  })

  test('cannot inject SQL', async ({ http }) => {
    await http('CREATE TABLE kept (a UInt8) ENGINE = Memory')
    for (const structure of [
      "a UInt8') ; DROP TABLE kept; --",
      'a UInt8) ENGINE = Memory; DROP TABLE kept; --',
      "a String DEFAULT file('/etc/passwd')",
      "a UInt8') SELECT 1 INTO OUTFILE '/tmp/x' --",
      '',
    ]) {
      for (const part of ['structure', 'types']) {
        const { body, headers } = form(file('w', '1\n'))
        const answer = await http({ query: 'SELECT * FROM w', url: { [`w_${part}`]: structure }, body, headers })
        expect(answer.status, `${structure}: ${answer.text}`).not.toBe(200)
      }
    }
    const named = form(file('x` (a UInt8) ; DROP TABLE kept; --', '1\n'))
    await http({ query: 'SELECT 1', url: { 'x` (a UInt8) ; DROP TABLE kept; --_types': 'UInt8' }, ...named })
    const format = { w_types: 'UInt8', w_format: 'CSV` ; DROP TABLE kept; --' }
    await http({ query: 'SELECT 1', url: format, ...form(file('w', '1\n')) })
    expect(await http('EXISTS kept')).toMatchObject({ text: '1\n' })
  })
})

describe('INSERT … SELECT … FROM input(…)', () => {
  test('reads the rows of the body', async ({ http }) => {
    await http('CREATE TABLE read (n UInt64, s String) ENGINE = MergeTree ORDER BY n')
    const select = "SELECT number * 2 AS n, upper(text) FROM input('number UInt32, text String') WHERE number > 1"
    const query = `INSERT INTO read (n, s) ${select} FORMAT CSV`
    expect(await http({ query, body: '1,a\n2,"b\n\nDROP TABLE read"\n3,c\n' })).toMatchObject({ status: 200, text: '' })
    await http({ body: `INSERT INTO read WITH 10 AS x ${select} LIMIT x FORMAT JSONEachRow\n{"number":7,"text":"d"}` })
    expect(await http('SELECT * FROM read ORDER BY n')).toMatchObject({
      text: '4\tB\\n\\nDROP TABLE READ\n6\tC\n14\tD\n',
    })
  })

  test('works in a session and with many rows', async ({ http }) => {
    await http('CREATE TABLE summed (total UInt64) ENGINE = Memory')
    const rows = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => `${i}\n`).join(''))
    const query = "INSERT INTO summed SELECT sum(n) FROM input('n UInt64') FORMAT TSV"
    const url = { session_id: 'input' }
    expect(await http({ query, url, body: rows })).toMatchObject({ status: 200 })
    expect(await http({ query: 'SELECT * FROM summed', url })).toMatchObject({ text: '499999500000\n' })
    expect(await http({ query: 'SHOW TEMPORARY TABLES', url })).toMatchObject({ text: '' })
  })

  test('is refused if the statement would not insert these rows', async ({ http }) => {
    await http('CREATE TABLE only (n UInt64) ENGINE = Memory')
    const codeOf = async (query: string, body: string, url = {}) =>
      Number((await http({ query, body, url })).headers['x-clickhouse-exception-code'])
    const input = "input('n UInt64')"
    expect(await codeOf(`INSERT INTO only SELECT n FROM ${input} FORMAT TSV`, 'x\n')).toBe(27)
    expect(
      await codeOf(`INSERT INTO only SELECT a.n FROM ${input} a, (SELECT * FROM ${input}) b FORMAT TSV`, '1\n'),
    ).toBe(477)
    expect(await codeOf(`INSERT INTO only SELECT n FROM ${input} FORMAT TSV`, '1\n', { readonly: '1' })).toBe(164)
    expect(await codeOf(`INSERT INTO only SELECT n FROM ${input}; DROP TABLE only FORMAT TSV`, '1\n')).toBe(62)
    expect(await codeOf("INSERT INTO only SELECT n FROM input('n UInt64 DEFAULT file(''x'')') FORMAT TSV", '1\n')).toBe(
      497,
    )
    expect(await http('SELECT count() FROM only')).toMatchObject({ text: '0\n' })
  })
})

test('users with fewer rights can send tables and rows, and can write no more than they are allowed to', async () => {
  await withDirectory(async (directory) => {
    const usersFile = join(directory, 'users.json')
    const user = { password_sha256_hex: createHash('sha256').update('pw').digest('hex') }
    const users = [
      { ...user, name: 'reader', readonly: 2 },
      { ...user, name: 'caged', access: 'write', databases: ['cage'] },
    ]
    await writeFile(usersFile, JSON.stringify({ users }), { mode: 0o600 })
    const engine = await start(join(directory, 'data'), { env: { CLICKHOUSE_USERS_FILE: usersFile } })
    const http = httpTo(engine.url)
    for (const database of ['cage', 'free']) {
      await http(`CREATE DATABASE ${database}`)
      await http(`CREATE TABLE ${database}.t (a UInt64) ENGINE = MergeTree ORDER BY a`)
    }
    const as = (name: string) => ({ Authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` })
    const tables = form(file('x', '1\n2\n'))
    const insertInto = (name: string, database: string) =>
      http({
        query: `INSERT INTO ${database}.t SELECT a FROM input('a UInt64') FORMAT TSV`,
        body: '1\n2\n',
        headers: as(name),
        url: { database: 'cage' },
      })
    for (const name of ['reader', 'caged']) {
      const headers = { ...tables.headers, ...as(name) }
      const url = { x_types: 'UInt8', database: 'cage' }
      expect(await http({ query: 'SELECT sum(_1) FROM x', url, body: tables.body, headers })).toMatchObject({
        text: '3\n',
      })
    }
    expect(await insertInto('caged', 'cage')).toMatchObject({ status: 200 })
    expect(await insertInto('caged', 'free')).toMatchObject({ status: 403 })
    expect(await insertInto('reader', 'cage')).toMatchObject({ status: 403 })
    expect(await http('SELECT (SELECT count() FROM cage.t), (SELECT count() FROM free.t)')).toMatchObject({
      text: '2\t0\n',
    })
    await engine.stop()
  })
}, 30_000)
