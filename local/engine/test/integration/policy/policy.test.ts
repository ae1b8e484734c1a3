import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { declare } from '../../../sandbox/libc.js'
import { confined, hiddenFile, refused } from './refused.js'
import { inFile, inOthers, strangers, type World, withWorld } from './world.js'

let world: World
let end: () => void
let ended: Promise<void>

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    ended = withWorld(async (made) => {
      world = made
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      ready()
      await over
    })
    ended.catch(failed)
  })
})
afterAll(async () => {
  end()
  await ended
})

const mkfifo = declare<[path: string, mode: number]>('int mkfifo(const char *path, uint mode)')

const isRefusal = /^Code: (497|164|115|452)\./

describe('users other than the owner are refused, by name', () => {
  test.each(strangers)('%s', async (name) => {
    for (const [what, statements] of Object.entries(refused(world))) {
      for (const [sql, named] of statements) {
        const { text } = await world.ask(name, sql)
        expect(text, `${what}: ${sql}`).toMatch(isRefusal)
        // Some are refused before, to everybody, or for lack of a grant.
        expect(
          [named, 'not allowed', 'may not be changed', 'grant '].some((word) => text.includes(word)),
          text,
        ).toBe(true)
        expect(text).not.toContain(inFile)
      }
    }
    expect(world.calls()).toBe(0)
    expect(existsSync(world.unwritten)).toBe(false)
  })

  test('settings of the request', async () => {
    for (const [setting, value] of [
      ['dialect', 'prql'],
      ['send_logs_level', 'trace'],
      ['format_schema', 'x'],
      ['additional_table_filters', "{'a.mine': '1'}"],
      ['enable_analyzer', '0'],
    ] as const) {
      const { text } = await world.ask('analyst', 'SELECT 1', { [setting]: value })
      expect(text, setting).toMatch(/^Code: 452\. .*should not be changed/)
    }
    for (const setting of ['no_such_setting', 'chdb_client_name']) {
      expect((await world.ask('analyst', 'SELECT 1', { [setting]: '1' })).text, setting).toMatch(/^Code: 115\./)
    }
  })

  test('parameters that become part of the statement, whatever was asked before', async () => {
    const sql = 'SELECT arrayMap({f: Identifier}, [1])'
    expect(await world.ask('analyst', sql, { param_f: 'negate' })).toMatchObject({ text: '[-1]\n' })
    expect((await world.ask('analyst', sql, { param_f: 'file' })).text).toContain('The function file')
    const structure = 'SELECT * FROM null({s: String})'
    expect(await world.ask('analyst', structure, { param_s: 'a UInt8' })).toMatchObject({ status: 200 })
    expect((await world.ask('analyst', structure, { param_s: 'a UInt8 DEFAULT 1' })).text).toContain('A structure')
    for (const name of ['x (alias y)\n  Function plus', 'x\n    Literal 2']) {
      expect((await world.ask('analyst', 'SELECT 1 AS {n: Identifier}', { param_n: name })).text).toContain(
        'line break',
      )
    }
  })

  test('a parameter that was forgotten once may be sent the next time', async () => {
    const sql = 'SELECT {x: UInt8} + 1'
    expect((await world.ask('analyst', sql)).text).toContain('Substitution `x` is not set')
    expect(await world.ask('analyst', sql, { param_x: '3' })).toMatchObject({ text: '4\n' })
  })

  test('settings of a statement do not get in the way of its judgement', async () => {
    const crlf = 'SELECT 1 SETTINGS output_format_tsv_crlf_end_of_line = 1'
    expect(await world.ask('analyst', crlf)).toMatchObject({ text: '1\r\n' })
    expect(await world.ask('analyst', 'SELECT 1', { max_result_rows: '1' })).toMatchObject({ text: '1\n' })
    const { text } = await world.ask('analyst', 'SELECT 1 SETTINGS max_result_rows = 1')
    expect(text).toContain('Send them with the request')
  })

  test('rows of Values are not evaluated if they have such words', async () => {
    const sql = 'INSERT INTO a.mine FORMAT Values'
    const rows = [
      `(5, ${hiddenFile}('${world.canary}'))`,
      '(5, (SELECT s FROM b.secret))',
      "(5, getMacro('x'))",
      '(5, toString(7 IN b.keys))',
      "(5, formatRow(concat('CS', 'V'), 1))",
      "(5, toString(arrayReduce(concat('su', 'm'), [1])))",
    ]
    for (const row of rows) {
      const { status, text } = await world.ask('writer', sql, {}, row)
      expect(status, text).not.toBe(200)
    }
    expect(await world.ask('writer', sql, {}, "(5, upper('x'))")).toMatchObject({ status: 200 })
  })
})

describe('a user of one database', () => {
  test.each(['reader', 'writer', 'maker'] as const)('%s cannot name another’s tables', async (name) => {
    for (const [sql, params] of confined) {
      const { text } = await world.ask(name, sql, params)
      expect(text, `${name}: ${sql}`).toMatch(isRefusal)
      expect(text).not.toContain(inOthers)
    }
  })

  test('sees neither queries nor the mark of others', async () => {
    await world.ask('owner', `SELECT '${inOthers}'`)
    await world.ask('owner', 'SYSTEM FLUSH LOGS')
    for (const name of strangers) {
      for (const table of ['processes', 'query_log']) {
        const { text } = await world.ask(name, `SELECT DISTINCT user FROM system.${table} FORMAT CSV`)
        expect(text.replace(`"${name}"\n`, ''), `${name}: ${table}`).toBe('')
      }
    }
    expect((await world.ask('owner', 'SELECT DISTINCT user FROM system.query_log')).text).toContain('reader')
  })
})

test('the name of a time zone opens no file, and nobody waits', async () => {
  mkfifo(join(dirname(world.canary), 'pipe'), 0o600)
  for (const path of [world.canary, join(dirname(world.canary), 'pipe')]) {
    const outside = `../../../../../..${path}`
    for (const [sql, url = {}] of [
      [`SELECT toTimeZone(now(), 'file:${path}')`],
      [`SELECT toTimeZone(now(), '${outside}')`],
      [`SELECT toTimeZone(now(), concat('fi', 'le:${path}'))`],
      [`SELECT CAST(1 AS DateTime('file:${path}'))`],
      [`SELECT JSONExtract('{"a": 1}', 'a', concat('DateTime(\\'file:${path}', '\\')'))`],
      [`SELECT * FROM format(CSVWithNamesAndTypes, 'a\n"DateTime(\\'file:${path}\\')"\n1')`],
      ["SELECT toDateTime('2026-01-01 00:00:00')", { session_timezone: `file:${path}` }],
    ] as [string, Record<string, string>?][]) {
      for (const name of ['reader', 'owner'] as const) {
        const { status, text } = await world.ask(name, sql, url)
        expect(status, `${name}: ${sql}: ${text}`).not.toBe(200)
      }
    }
  }
  const zones = await world.ask('reader', 'SELECT time_zone FROM system.time_zones WHERE rand() % 30 = 0')
  for (const zone of zones.text.trim().split('\n')) {
    expect(await world.ask('reader', `SELECT toTimeZone(now(), '${zone}')`), zone).toMatchObject({ status: 200 })
  }
})

/** The engine runs these later, as nobody: a view that reads another database would show it. */
test.each(['writer', 'maker'] as const)('%s defines nothing that reads tables later', async (name) => {
  for (const sql of [
    'ALTER TABLE a.other UPDATE s = (SELECT any(s) FROM a.through) WHERE 1',
    'ALTER TABLE a.other UPDATE s = toString(k IN a.through) WHERE 1',
    'UPDATE a.other SET s = (SELECT any(s) FROM a.through) WHERE 1',
    'CREATE TABLE a.t (k UInt64, d DateTime) ENGINE = MergeTree ORDER BY k TTL d DELETE WHERE k IN (SELECT k FROM a.through)',
    'CREATE TABLE a.t (k UInt64, d DateTime) ENGINE = MergeTree ORDER BY k TTL d DELETE WHERE k IN a.through',
    'CREATE TABLE a.t (k UInt64, b UInt8 DEFAULT k IN a.through) ENGINE = MergeTree ORDER BY k',
    'CREATE TABLE a.t (k UInt64, PROJECTION p (SELECT k IN a.through)) ENGINE = MergeTree ORDER BY k',
    'CREATE TABLE a.t (k UInt64, CONSTRAINT c CHECK k IN (SELECT k FROM a.through)) ENGINE = MergeTree ORDER BY k',
    'ALTER TABLE a.mine ADD INDEX i k IN a.through TYPE minmax',
    'SELECT * FROM a.through',
    "ALTER TABLE a.other UPDATE s = dictGet('words', 's', 7::UInt64) WHERE 1",
    "ALTER TABLE a.other UPDATE s = concat('default.words' AS d, dictGet(d, 's', 7::UInt64)) WHERE 1",
    "CREATE TABLE a.t (k UInt64, s String MATERIALIZED dictGet('words', 's', 7::UInt64)) ENGINE = MergeTree ORDER BY k",
    "ALTER TABLE a.mine MODIFY TTL now() DELETE WHERE dictGet('words', 's', 7::UInt64) = 'x'",
    "DELETE FROM a.other WHERE dictHas('words', 7::UInt64)",
  ]) {
    for (const url of [{}, { database: 'a' }]) {
      const { status, text } = await world.ask(name, sql, { ...url, mutations_sync: '1' })
      // There is no dictionary a.words.
      const isUnknown = 'database' in url && text.includes('Dictionary (`words`) not found')
      expect(isRefusal.test(text) || isUnknown, `${sql}: ${status} ${text}`).toBe(true)
    }
  }
  const own = "ALTER TABLE a.other UPDATE s = 'x' WHERE k IN (SELECT k FROM a.mine)"
  expect(await world.ask(name, own)).toMatchObject({ status: 200 })
})

test('the owner’s statements still work', async () => {
  for (const sql of [
    'SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)',
    "SELECT * FROM null('a Int, b Int DEFAULT 1')",
    'SELECT * FROM loop(system.one) LIMIT 1',
    "SELECT 1 SETTINGS send_logs_level = 'none'",
    'CREATE VIEW a.v AS SELECT 1',
    'DROP TABLE a.v',
    'SELECT * FROM system.backups',
    "SELECT hasColumnInTable('b', 'secret', 's')",
    'SELECT 7 IN b.keys',
    "SELECT dictGet('b.words', 's', 7::UInt64)",
    'SELECT * APPLY(x -> x + 1) FROM numbers(2)',
    'SELECT * FROM system.disks',
    "SELECT * FROM merge(REGEXP('a|b'), 'secret')",
  ]) {
    expect(await world.ask('owner', sql), sql).toMatchObject({ status: 200 })
  }
})

/** What readers, their tools and the documentation ask. */
const everyday = [
  "SELECT name, engine, total_rows FROM system.tables WHERE database NOT IN ('system')",
  "SELECT name, type, comment FROM system.columns WHERE database = 'a' AND table = 'mine'",
  'SELECT name FROM system.databases ORDER BY name',
  'SELECT name, is_aggregate FROM system.functions ORDER BY name LIMIT 10',
  'SELECT table_name FROM information_schema.tables LIMIT 1',
  'SHOW DATABASES',
  "SHOW TABLES FROM a LIKE 'm%'",
  "SHOW TABLES FROM a WHERE name = 'mine' LIMIT 1",
  'SHOW CREATE TABLE a.mine',
  'SHOW COLUMNS FROM a.mine',
  'DESCRIBE TABLE a.mine FORMAT JSON',
  'EXPLAIN header = 1 SELECT * FROM a.mine',
  'EXPLAIN PIPELINE SELECT * FROM a.mine',
  "SELECT s FROM a.mine WHERE k = 1 SETTINGS max_threads = 1, log_comment = 'a, b = c' FORMAT JSONEachRow",
  'SELECT 1 UNION ALL SELECT 2 SETTINGS max_threads = 1',
  'SELECT s FROM a.one(k = 1)',
  'WITH (x -> x * 2) AS double SELECT double(k), arrayMap(x -> x + 1, [1]), arrayMap(negate, [1]) FROM a.mine',
  'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t',
  'SELECT quantileTDigestIf(0.5)(k, k > 0), sumMap(map(k, 1)), uniqMerge(u), argMaxIf(k, k, 1) FROM (SELECT any(k) AS k, uniqState(s) AS u FROM a.mine)',
  'SELECT toStartOfInterval(now(), INTERVAL 1 HOUR) AS t, count() FROM a.mine GROUP BY t ORDER BY t WITH FILL STEP 3600 LIMIT 3',
  'SELECT sum(k) OVER (PARTITION BY s ORDER BY k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM a.mine',
  "SELECT * APPLY(toString), * EXCEPT k, * REPLACE (k + 1 AS k), COLUMNS('k') FROM a.mine",
  'SELECT k FROM a.mine ANY LEFT JOIN a.mine AS m USING k WHERE k IN (SELECT k FROM a.mine)',
  "SELECT * FROM values('a String, b UInt8', ('x', 1))",
  "SELECT * FROM generateRandom('a Enum8(\\'x\\' = 1)') LIMIT 1",
  'SELECT * FROM format(JSONEachRow, \'{"a": 1}\')',
  "SELECT * FROM merge('a', '^mine$')",
  "SELECT arrayReduce('quantileExactIf(0.5)', [1, 2], [1, 1]), arrayReduce('sumOrNull', [1])",
  'SELECT version(), currentDatabase(), currentUser(), hostName(), timezone(), uptime()',
]

test.each(['reader', 'analyst'] as const)('%s asks what tools and recipes ask', async (name) => {
  for (const sql of everyday) {
    const { status, text } = await world.ask(name, sql)
    expect(status, `${sql}: ${text}`).toBe(200)
  }
})

test('the owner of a database keeps its tables', async () => {
  for (const sql of [
    "CHECK TABLE a.parted PARTITION 'x'",
    "CHECK TABLE a.parted PARTITION tuple('x') FORMAT JSON",
    "OPTIMIZE TABLE a.parted PARTITION 'x' FINAL",
    "ALTER TABLE a.parted DROP PARTITION tuple('y')",
  ]) {
    const { status, text } = await world.ask('maker', sql)
    expect(status, `${sql}: ${text}`).toBe(200)
  }
})
