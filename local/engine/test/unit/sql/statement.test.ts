import { describe, expect, test } from 'vitest'
import { analyse } from '../../../sql/statement.js'

const codeOf = (sql: string): number | undefined => {
  try {
    analyse(sql)
    return undefined
  } catch (error) {
    return (error as { code: number }).code
  }
}

describe('SELECT', () => {
  test('the format is found at the end, before or after SETTINGS', () => {
    for (const sql of [
      'SELECT 1 FORMAT JSON',
      'SELECT 1 FORMAT JSON SETTINGS a = 1',
      'SELECT 1 SETTINGS a = 1 FORMAT JSON;',
      'with 1 as x select x format JSON -- ; drop',
      '(SELECT 1) UNION ALL (SELECT 2) FORMAT "JSON"',
      'FROM t SELECT * FORMAT JSON',
    ]) {
      expect(analyse(sql), sql).toMatchObject({ kind: 'select', format: 'JSON' })
    }
  })

  test('a column or table called format is not a clause', () => {
    for (const sql of [
      'SELECT format FROM t',
      'SELECT 1 AS format',
      "SELECT * FROM format(CSV, '1')",
      'SELECT (1 FORMAT x)',
    ]) {
      expect(analyse(sql), sql).toMatchObject({ kind: 'select', format: undefined })
    }
  })

  test('an output clause goes before FORMAT and after everything else', () => {
    const statement = analyse('SELECT 1 FORMAT JSON SETTINGS a = 1 ;')
    if (statement.kind !== 'select') throw new Error(statement.kind)
    expect(statement.sql.slice(0, statement.cut)).toBe('SELECT 1 ')
    expect(statement.sql.slice(statement.cut)).toBe('FORMAT JSON SETTINGS a = 1')
  })
})

describe('INSERT', () => {
  const rowsOf = (sql: string) => {
    const statement = analyse(sql)
    return statement.kind === 'insert' ? sql.slice(statement.dataStart) : statement.kind
  }

  test('rows start where the engine expects them', () => {
    expect(rowsOf('INSERT INTO t FORMAT CSV\n1,2')).toBe('1,2')
    expect(rowsOf('INSERT INTO t FORMAT CSV 1,2')).toBe('1,2')
    expect(rowsOf('INSERT INTO t FORMAT CSV \t\r\n\n1')).toBe('\n1')
    expect(rowsOf('INSERT INTO t VALUES (1), (2)')).toBe('(1), (2)')
    expect(rowsOf("INSERT INTO t (a, `b)`) SETTINGS x = 1, y = 'FORMAT CSV' VALUES (1)")).toBe('(1)')
    expect(rowsOf('insert /* values */ into table d.t(a)format JSONEachRow{"a":1}')).toBe('{"a":1}')
    expect(rowsOf('INSERT INTO t FORMAT CSV')).toBe('')
  })

  test('rows are never read as SQL', () => {
    const attack = "\n\n; DROP TABLE t; SELECT * FROM x INTO OUTFILE 'y' -- ' \" ` /* $a$ file('/etc/passwd')"
    expect(rowsOf(`INSERT INTO t FORMAT CSV\n1${attack}`)).toBe(`1${attack}`)
    expect(rowsOf(`INSERT INTO t VALUES (1)${attack}`)).toBe(`(1)${attack}`)
  })

  test('tables can be named like keywords', () => {
    for (const table of ['values', 'format', 'table', 'settings', 'd.values', 'function', '`select`']) {
      expect(rowsOf(`INSERT INTO ${table} VALUES (1)`), table).toBe('(1)')
      expect(rowsOf(`INSERT INTO ${table} FORMAT CSV\n1`), table).toBe('1')
    }
  })

  test('an INSERT from a SELECT has no rows', () => {
    for (const sql of [
      'INSERT INTO t SELECT 1',
      'INSERT INTO t (SELECT 1)',
      'INSERT INTO t WITH 1 AS x SELECT x',
      'INSERT INTO t (a) FROM x SELECT y',
    ]) {
      expect(analyse(sql).kind, sql).toBe('other')
    }
  })

  test('the clause for the rows goes before SETTINGS', () => {
    expect(analyse('INSERT INTO t (a) SETTINGS b = 1 FORMAT CSV\n1')).toMatchObject({
      head: 'INSERT INTO t (a) ',
      tail: 'SETTINGS b = 1 FORMAT CSV',
    })
    expect(analyse('INSERT INTO t VALUES (1)')).toMatchObject({ head: 'INSERT INTO t ', tail: ' FORMAT Values' })
  })
})

test('more than one statement is refused, semicolons in quotes and comments are not', () => {
  for (const sql of [
    'SELECT 1; SELECT 2',
    'SELECT 1;;x',
    "SELECT ';';DROP TABLE t",
    'CREATE TABLE t (a Int8);SELECT 1',
    ';SELECT 1',
  ]) {
    expect(codeOf(sql), sql).toBe(62)
  }
  for (const sql of ["SELECT ';'", 'SELECT 1 /* ; */ -- ;', 'SELECT `;`', 'SELECT $a$;$a$', 'SELECT 1;; ']) {
    expect(codeOf(sql), sql).toBe(undefined)
  }
})

test('an empty statement is an error', () => {
  for (const sql of ['', ' ', ';', '-- only a comment']) expect(codeOf(sql), sql).toBe(62)
})

describe('forbidden statements', () => {
  test.each([
    "SELECT 1 INTO OUTFILE 'x'",
    "SELECT 1 into/**/outfile 'x'",
    "SELECT 1 INTO\u3000OUTFILE 'x'",
    "SHOW TABLES INTO OUTFILE 'x'",
    "INSERT INTO t FROM INFILE 'x' FORMAT CSV",
    'INSERT INTO t (a) from -- \n infile $$x$$',
    "SELECT file('/etc/passwd')",
    "SELECT `file`('/etc/passwd')",
    `SELECT "\\x66ile"('/etc/passwd')`,
    'SELECT * APPLY(file) FROM t',
    "SELECT arrayMap(file, ['/etc/passwd'])",
    "CREATE VIEW v AS SELECT file ('/etc/passwd')",
    'CREATE FUNCTION f AS x -> file(x)',
    "CREATE TABLE t (a String DEFAULT file('/x')) ENGINE = Memory",
    "CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a SETTINGS disk = disk(type = 'local', path = '/x')",
    "CREATE TABLE t (a Int8) ENGINE = EmbeddedRocksDB(0, '/x') PRIMARY KEY a",
    'CREATE TABLE t (a Int8) ENGINE File(CSV)',
    'CREATE TABLE t (engine String) ENGINE File(CSV)',
    'CREATE TABLE t (a Int8) engine = `File`(CSV)',
    "CREATE TABLE t (a Int8) ENGINE = `Executable`('x', CSV)",
    "ATTACH TABLE t (a Int8) ENGINE = URL('http://x', CSV)",
    "CREATE DATABASE d ENGINE = Filesystem('/')",
    "CREATE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(EXECUTABLE(command 'id' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
    "CREATE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(HTTP(url 'http://x' format 'CSV')) LAYOUT(FLAT()) LIFETIME(0)",
    "CREATE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(CLICKHOUSE(HOST 'x' TABLE 't')) LAYOUT(FLAT()) LIFETIME(0)",
    "CREATE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(CLICKHOUSE(QUERY 'SELECT file(''x'')')) LAYOUT(FLAT()) LIFETIME(0)",
    "CREATE OR REPLACE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(NULL()) LAYOUT(SSD_CACHE(PATH '/x')) LIFETIME(0)",
    'DROP DATABASE default',
    'DROP DATABASE IF EXISTS `default`',
  ])('%s', (sql) => {
    expect(codeOf(sql)).toBe(497)
  })
})

test.each([
  'INSERT INTO t FORMAT ProtobufList',
  'INSERT INTO t (a) SETTINGS max_threads = 1 FORMAT `protobuf`',
  "SELECT * FROM format(ProtobufSingle, 'a UInt8', '')",
  "SELECT * FROM `format`('ProtobufList', '')",
  'INSERT INTO t FORMAT ORC',
  "SELECT * FROM format('\\x4fRC', '')",
  'SELECT * FROM format($x$orc$x$, $x$$x$)',
  "SELECT * FROM format(concat('Proto', 'buf'), 'a UInt8', '')",
  "SELECT * FROM format('OR' || 'C', '')",
  "SELECT * FROM format(('ORC'), '')",
  "SELECT * FROM format({f:String}, '')",
  "DESCRIBE TABLE format(ORC, '')",
  "CREATE TABLE t ENGINE = Memory AS SELECT * FROM format(concat('O', 'RC'), '')",
  "INSERT INTO t SELECT * FROM format('ORC', '')",
])('rows in a format whose reader is unsafe are refused: %s', (sql) => {
  expect(codeOf(sql)).toBe(48)
})

test('statements that look similar are not refused', () => {
  for (const sql of [
    'SELECT t.file FROM t',
    "SELECT 'file(x)', 'INTO OUTFILE'",
    'SELECT * FROM infile',
    'SELECT engine, disk FROM system.tables',
    "SELECT replace(engine, 'File', 'x') FROM system.tables",
    'CREATE TABLE t (engine LowCardinality(String), `engine` File) ENGINE = MergeTree ORDER BY engine',
    'CREATE VIEW v AS SELECT engine FROM system.tables WHERE engine IN (SELECT engine AS e FROM t)',
    'CREATE TABLE t (a Int8) ENGINE = ReplicatedReplacingMergeTree ORDER BY a',
    'CREATE MATERIALIZED VIEW v REFRESH EVERY 1 MINUTE ENGINE = MergeTree ORDER BY a AS SELECT 1 AS a',
    "CREATE DICTIONARY d (k UInt64) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 't' DB 'd')) LAYOUT(FLAT()) LIFETIME(0)",
    'SELECT * FROM t FORMAT ProtobufList',
    "SELECT format('{} Protobuf', a), format(pattern, a), format('x')",
    'SELECT * FROM t FORMAT ORC',
    'CREATE TABLE IF NOT EXISTS format (a UInt8) ENGINE = Memory',
    'INSERT INTO format (a) VALUES (1)',
    'INSERT INTO TABLE d.format (orc) SELECT 1',
    'DROP DATABASE d',
    'DROP TABLE default.t',
  ]) {
    expect(codeOf(sql), sql).toBe(undefined)
  }
})

describe('INSERT … SELECT … FROM input()', () => {
  const inputOf = (sql: string) => {
    const statement = analyse(sql)
    return statement.kind === 'insert'
      ? { input: statement.input?.structure, rows: sql.slice(statement.dataStart) }
      : statement.kind
  }

  test('rows follow after FORMAT', () => {
    for (const sql of [
      "INSERT INTO t SELECT a FROM input('a Int8') FORMAT CSV\n1; DROP TABLE t",
      "insert into t (a) settings x = 1 with 1 as y select * from (select * from INPUT ( 'a Int8' ) where a > 1 format) x format CSV 1; DROP TABLE t",
      "INSERT INTO t SELECT format, 'FORMAT x' FROM u JOIN input('a Int8') FORMAT CSV\n1; DROP TABLE t",
    ]) {
      expect(inputOf(sql), sql).toEqual({ input: 'a Int8', rows: '1; DROP TABLE t' })
    }
  })

  test('a statement without that function has no rows', () => {
    for (const sql of [
      'INSERT INTO t SELECT input FROM u FORMAT CSV',
      "INSERT INTO t SELECT input('a Int8') FORMAT CSV",
      "INSERT INTO t SELECT 'FROM input(''a Int8'') FORMAT CSV'",
      "INSERT INTO t SELECT * FROM `input('a Int8')` FORMAT CSV",
      "INSERT INTO t SELECT * FROM input('a Int8')",
    ]) {
      expect(inputOf(sql), sql).toBe('other')
    }
  })
})
