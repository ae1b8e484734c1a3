import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test, withDirectory } from './engine.js'

const attack = "\n\nINSERT INTO victims VALUES (666, 'injected')\n\n; DROP TABLE victims;\n"

describe('rows are data', () => {
  test('a blank line followed by SQL is a value or a parse error', async ({ http }) => {
    await http('CREATE TABLE victims (a UInt32, b String) ENGINE = MergeTree ORDER BY a')
    const quoted = `1,"x${attack}"\n`
    expect(await http({ query: 'INSERT INTO victims FORMAT CSV', body: quoted })).toMatchObject({ status: 200 })
    expect(await http({ query: 'INSERT INTO victims FORMAT CSV', body: `2,plain${attack}` })).toMatchObject({
      status: 400,
    })
    await http({ body: `INSERT INTO victims FORMAT CSV\n3,plain${attack}` })
    await http({ query: `INSERT INTO victims VALUES (4, 'plain')`, body: attack })
    await http({ query: `INSERT INTO victims VALUES (5, 'plain')${attack}` })
    const { text } = await http('SELECT a, b FROM victims ORDER BY a FORMAT JSONEachRow')
    expect(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))[0],
    ).toEqual({ a: 1, b: `x${attack}` })
    expect(await http('SELECT count() FROM victims WHERE a = 666')).toMatchObject({ text: '0\n' })
  })

  test('bytes that look like blank lines survive in every binary format', async ({ http }) => {
    await http('CREATE TABLE binary (a UInt64, b String) ENGINE = MergeTree ORDER BY a')
    const row = Buffer.alloc(8 + 1 + 14)
    row.writeBigUInt64LE(0x0a0a0a0an, 0)
    row.write(`\x0e\n\n;SELECT 1;\n\n`, 8, 'latin1')
    expect(await http({ query: 'INSERT INTO binary FORMAT RowBinary', body: row })).toMatchObject({ status: 200 })
    expect(await http('SELECT a, hex(b) FROM binary')).toMatchObject({
      text: `${0x0a0a0a0a}\t${Buffer.from('\n\n;SELECT 1;\n\n').toString('hex').toUpperCase()}\n`,
    })
  })

  test('an expression among the values is evaluated unless it accesses files', async ({ http }) => {
    await http('CREATE TABLE evaluated (a String) ENGINE = MergeTree ORDER BY a')
    expect(await http("INSERT INTO evaluated VALUES (concat('a', 'b')), ({p: String})")).toMatchObject({ status: 500 })
    const url = { param_p: 'param' }
    expect(await http({ query: "INSERT INTO evaluated VALUES (concat('a', 'b')), ({p: String})", url })).toMatchObject({
      status: 200,
    })
    expect(await http("INSERT INTO evaluated VALUES ('file(1)')")).toMatchObject({ status: 200 })
    for (const rows of [
      "(file('/etc/hostname'))",
      `("\\x66ile"('/etc/hostname'))`,
      "((SELECT x FROM format(Values, 'x String', '(file(''/etc/hostname''))')))",
    ]) {
      expect((await http(`INSERT INTO evaluated VALUES ${rows}`)).status, rows).not.toBe(200)
    }
    expect(await http('SELECT a FROM evaluated ORDER BY a')).toMatchObject({ text: 'ab\nfile(1)\nparam\n' })
  })
})

describe('SQL stays in the engine', () => {
  test('no statement reads, writes or connects to anything outside of the engine', async ({ http }) => {
    let requests = 0
    const server = createServer((_, response) => {
      requests++
      response.end('1\n')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    await withDirectory(async (directory) => {
      const file = (name: string) => join(directory, name)
      execFileSync('sh', ['-c', `echo top-secret > ${file('secret')}`])
      const statements = [
        `SELECT * FROM file('${file('secret')}', 'LineAsString')`,
        `SELECT file('${file('secret')}')`,
        `SELECT * APPLY(file) FROM (SELECT '${file('secret')}')`,
        `SELECT arrayMap(file, ['${file('secret')}'])`,
        `SELECT * FROM \`${file('secret')}\``,
        `SELECT * FROM default.\`${file('secret')}\``,
        `SELECT 1 INTO OUTFILE '${file('a')}'`,
        `SELECT 1 INTO OUTFILE '${file('b')}' FORMAT CSV`,
        `SHOW TABLES INTO OUTFILE '${file('c')}'`,
        `INSERT INTO FUNCTION file('${file('d')}', 'CSV', 'a UInt8') SELECT 1`,
        `INSERT INTO default.\`${file('e.csv')}\` SELECT 1`,
        `SELECT * FROM format(Values, 'x String', '(file(''${file('secret')}''))')`,
        `SELECT * FROM format(Values, 'x Nullable(String)', '(file(''${file('secret')}''))') SETTINGS input_format_values_interpret_expressions = 1`,
        `SELECT 1 SETTINGS additional_result_filter = 'file(''${file('secret')}'') = 1'`,
        `SELECT * FROM eval('SELECT file(''${file('secret')}'')') SETTINGS allow_experimental_eval_table_function = 1`,
        `SELECT * FROM format(CSV, 'a UInt8', 'x') SETTINGS input_format_allow_errors_num = 1, input_format_record_errors_file_path = '${file('f')}'`,
        `SELECT * FROM format(Template, 'a String', 'x') SETTINGS format_template_row = '${file('secret')}'`,
        `SELECT 1 FORMAT Protobuf SETTINGS output_format_schema = '${file('g')}'`,
        `CREATE TABLE h (a String) ENGINE = File(CSV, '${file('h')}')`,
        `CREATE TABLE i (a UInt8, b UInt8) ENGINE = EmbeddedRocksDB(0, '${file('i')}') PRIMARY KEY a`,
        `CREATE TABLE j (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'local', path = '${file('j')}/')`,
        `CREATE DICTIONARY k (k UInt64, v String) PRIMARY KEY k SOURCE(EXECUTABLE(command 'touch ${file('k')}' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)`,
        `CREATE DICTIONARY l (k UInt64, v String) PRIMARY KEY k SOURCE(HTTP(url 'http://${address}/' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)`,
        `CREATE DATABASE m ENGINE = Filesystem('${directory}')`,
        `ATTACH TABLE n FROM '${directory}' (a UInt8) ENGINE = MergeTree ORDER BY a`,
        `BACKUP DATABASE default TO File('${file('o')}')`,
        `SELECT * FROM url('http://${address}/', 'CSV', 'a UInt8')`,
        `SELECT * FROM remote('${address}', system.one)`,
        `SELECT * FROM s3('http://${address}/bucket/key', 'CSV', 'a UInt8')`,
        `CREATE TABLE p (a UInt8) ENGINE = URL('http://${address}/', CSV)`,
        `CREATE TABLE q (a UInt8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'web', endpoint = 'http://${address}/x/')`,
        `SELECT * FROM format(AvroConfluent, 'a String', '\\0\\0\\0\\0\\1x') SETTINGS format_avro_schema_registry_url = 'http://${address}/'`,
        'SYSTEM SHUTDOWN',
        'SYSTEM KILL',
        'CREATE USER x',
        'GRANT ALL ON *.* TO default',
        "SET dialect = 'kusto'",
      ]
      for (const statement of statements) {
        const answer = await http({ body: statement })
        expect([400, 403, 404, 500, 501], `${statement}: ${answer.text}`).toContain(answer.status)
        expect(answer.text, statement).not.toContain('top-secret')
      }
      await http({ query: `INSERT INTO victims FROM INFILE '${file('secret')}' FORMAT CSV` })
      await http({ query: 'SELECT 1 FORMAT CSV', url: { input_format_record_errors_file_path: file('r') } })
      for (const query of ["SELECT dictGet('k', 'v', 1::UInt64)", "SELECT dictGet('l', 'v', 1::UInt64)"])
        await http(query)
      expect(execFileSync('ls', [directory]).toString()).toBe('secret\n')
    })
    expect(requests).toBe(0)
    server.close()
    expect(await http('SELECT 1')).toMatchObject({ status: 200 })
  })

  test('one statement a request', async ({ http }) => {
    await http('CREATE TABLE kept (a UInt8) ENGINE = Memory')
    for (const query of [
      'SELECT 1; DROP TABLE kept',
      "SELECT ';' ; DROP TABLE kept",
      'DROP TABLE IF EXISTS nothing; DROP TABLE kept;',
    ]) {
      expect(await http(query), query).toMatchObject({ status: 400 })
      expect(await http({ body: query }), query).toMatchObject({ status: 400 })
    }
    const url = { param_p: "'; DROP TABLE kept; --" }
    expect(await http({ query: 'SELECT {p: String}', url })).toMatchObject({ status: 200 })
    const setting = { log_comment: "x'; DROP TABLE kept; --", 'max_threads` = 1; DROP TABLE kept; --': '1' }
    expect(await http({ query: 'SELECT 1', url: setting })).toMatchObject({ status: 404 })
    expect(await http({ query: 'SELECT 1', url: { database: 'x`; DROP TABLE kept; --' } })).toMatchObject({
      status: 404,
    })
    expect(await http('EXISTS kept')).toMatchObject({ text: '1\n' })
  })

  test('random statements neither access a file nor end the engine', async ({ http }) => {
    await http('CREATE TABLE bystander (a UInt8) ENGINE = Memory')
    await withDirectory(async (directory) => {
      const pieces = [
        'SELECT 1',
        ` INTO OUTFILE '${directory}/x' `,
        '; DROP TABLE bystander;',
        ' FORMAT CSV',
        ' SETTINGS max_threads = 1',
        '/*',
        '*/',
        '--',
        '\n',
        "'",
        '"',
        '`',
        '$$',
        '$a$',
        '\\',
        '\\G',
        '’',
        '\u3000',
        '#!',
        ' UNION ALL ',
        '(',
        ')',
        "x'",
        ' INSERT INTO bystander VALUES (1)',
        '\0',
        ' FROM bystander',
        ` FROM INFILE '${directory}/x' `,
        ' TRUNCATE',
        ' APPEND',
        ' AND STDOUT',
        ',',
        ' WITH 1 AS x ',
        'EXPLAIN ',
      ]
      const random = seeded(7)
      const statement = () => Array.from({ length: 2 + random(8) }, () => pieces[random(pieces.length)]).join('')
      for (let round = 0; round < 60; round++) {
        const batch = Array.from({ length: 15 }, statement)
        await Promise.all(batch.map((sql, i) => http(i % 2 ? { query: `SELECT 1${sql}` } : { body: sql })))
      }
      expect(execFileSync('ls', [directory]).toString()).toBe('')
    })
    expect(await http('EXISTS bystander')).toMatchObject({ text: '1\n' })
  }, 30_000)
})

function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
