import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

/** The function file in a spelling in which its name is not in the text. */
const hiddenFile = '`fi\\x6ce`'

/** Statements by what they try, each with what the refusal names. */
const refused = (w: World): Record<string, [sql: string, named: string][]> => {
  const path = `'${w.canary}'`
  const nested = `'a String DEFAULT \`fi\\\\x6ce\`(\\'${w.canary}\\')'`
  const url = `'http://127.0.0.1:${w.port}/x'`
  return {
    'functions that reach a file': [
      [`SELECT ${hiddenFile}(${path})`, 'The function file'],
      [`SELECT arrayMap(${hiddenFile}, [${path}])`, 'The function file'],
      [`SELECT * APPLY(${hiddenFile}) FROM (SELECT ${path} AS x)`, 'APPLY'],
      [`SELECT * APPLY(x -> ${hiddenFile}(x)) FROM (SELECT ${path} AS x)`, 'APPLY'],
      [`WITH (x -> ${hiddenFile}(x)) AS f SELECT f(${path})`, 'The function file'],
      [`WITH t AS (SELECT ${hiddenFile}(${path}) AS x) SELECT x FROM t`, 'The function file'],
      [`SELECT 1 IN (SELECT ${hiddenFile}(${path}))`, 'The function file'],
      [`EXPLAIN SELECT ${hiddenFile}(${path})`, 'The function file'],
      [`SELECT * FROM view(SELECT ${hiddenFile}(${path}))`, 'The function file'],
      [`SHOW TABLES FROM a WHERE ${hiddenFile}(${path}) = ''`, 'The function file'],
      [`KILL QUERY WHERE ${hiddenFile}(${path}) = ''`, 'The function file'],
      [`SELECT catboostEvaluate(${path}, 1)`, 'The function catboostEvaluate'],
    ],
    'structures with expressions': [
      [`SELECT * FROM format(CSV, ${nested}, '')`, 'A structure'],
      [`SELECT * FROM null(${nested})`, 'A structure'],
      [`SELECT * FROM generateRandom(${nested})`, 'A structure'],
      [`SELECT * FROM values('a UInt8, b String MATERIALIZED 1', (1))`, 'A structure'],
      ["SELECT * FROM null('a Int, b Int ALIAS 1')", 'A structure'],
      ["SELECT * FROM null('a Int EPHEMERAL 1')", 'A structure'],
      ["SELECT * FROM null(concat('a', ' Int'))", 'A computed structure'],
    ],
    'table functions': [
      [`SELECT * FROM ${hiddenFile}(${path}, LineAsString)`, 'The table function file'],
      [`DESCRIBE ${hiddenFile}(${path})`, 'The table function file'],
      [`SELECT * FROM url(${url}, CSV, 'a String')`, 'The table function url'],
      [`SELECT * FROM s3(${url})`, 'The table function s3'],
      [`SELECT * FROM remote('127.0.0.1:${w.port}', system.one)`, 'The table function remote'],
      ["SELECT * FROM eval('SELECT 1')", 'The table function eval'],
      ["SELECT * FROM executable('x', TSV, 'a String')", 'The table function executable'],
      [`SELECT * FROM filesystem(${path})`, 'The table function filesystem'],
      ['SELECT * FROM loop(system.one) LIMIT 1', 'The table function loop'],
      ["SELECT * FROM mergeTreeIndex('a', 'mine')", 'The table function mergeTreeIndex'],
      ["SELECT * FROM viewIfPermitted(SELECT 1 ELSE null('a Int'))", 'The table function viewIfPermitted'],
      [`INSERT INTO FUNCTION ${hiddenFile}('${w.unwritten}', CSV, 'a String') SELECT 1`, 'INSERT INTO FUNCTION'],
      [`CREATE TEMPORARY TABLE t AS ${hiddenFile}(${path})`, 'The table function file'],
    ],
    'settings below the top level': [
      ['SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)', 'A setting below'],
      ['WITH t AS (SELECT 1 SETTINGS max_threads = 1) SELECT * FROM t', 'A setting below'],
      ['SELECT * FROM view(SELECT 1 SETTINGS max_threads = 1)', 'A setting below'],
      ['EXPLAIN SELECT 1 SETTINGS max_threads = 1', 'A setting below'],
      ['SELECT 1 SETTINGS max_threads = 1 UNION ALL SELECT 2', 'A setting below'],
      ['SELECT (SELECT 1 SETTINGS max_threads = 1)', 'A setting below'],
      ['DESCRIBE (SELECT 1 SETTINGS max_threads = 1)', 'A setting below'],
      ["SELECT * FROM (SELECT * FROM system.processes SETTINGS chdb_client_name = 'internal')", 'chdb_client_name'],
    ],
    'settings that are not on the list': [
      ["SELECT 1 SETTINGS chdb_client_name = 'internal'", 'etting chdb_client_name'],
      ["SELECT 1 SETTINGS dialect = 'prql'", 'The setting dialect'],
      ["SELECT 1 SETTINGS send_logs_level = 'trace'", 'The setting send_logs_level'],
      ['SELECT 1 SETTINGS ast_fuzzer_runs = 1', 'The setting ast_fuzzer_runs'],
      ["SELECT 1 FORMAT CSV SETTINGS format_schema = 'x'", 'The setting format_schema'],
      [`SELECT 1 FORMAT CSV SETTINGS format_template_row = ${path}`, 'The setting format_template_row'],
      [`SET format_avro_schema_registry_url = ${url}`, 'The setting format_avro_schema_registry_url'],
      ["SET input_format_record_errors_file_path = 'x'", 'The setting input_format_record_errors_file_path'],
      ['SET allow_experimental_eval_table_function = 1', 'The setting allow_experimental_eval_table_function'],
      ["SET profile = 'default'", 'profile'],
      ["SET param_x = 'file'", 'param_x'],
    ],
    formats: [
      ['SELECT 1 FORMAT Template', 'The format Template'],
      ['SELECT 1 FORMAT Protobuf', 'The format Protobuf'],
      ["SELECT formatRow('Template', 1)", 'The format Template'],
      ["SELECT * FROM format(Template, 'a UInt8', '1')", 'The format Template'],
      ['SHOW TABLES FORMAT Template', 'The format Template'],
      [`SELECT 1 INTO OUTFILE '${w.unwritten}'`, 'INTO OUTFILE'],
      [`SELECT 1 FORMAT CSV INTO OUTFILE '${w.unwritten}'`, 'INTO OUTFILE'],
    ],
    'statements for the owner': [
      [`ATTACH TABLE a.t UUID '${w.uuid}' (k UInt64, s String) ENGINE = MergeTree ORDER BY k`, 'ATTACH'],
      [`ATTACH TABLE a.t FROM '/x' (k UInt64, s String) ENGINE = MergeTree ORDER BY k`, 'ATTACH'],
      [`CREATE TABLE a.t UUID '${w.uuid}' (k UInt64, s String) ENGINE = MergeTree ORDER BY k`, 'CREATE TABLE … UUID'],
      ['UNDROP TABLE a.t', 'The statement Undrop'],
      ["BACKUP TABLE a.mine TO File('x')", 'The statement Backup'],
      ["RESTORE TABLE a.mine FROM File('x')", 'The statement Restore'],
      ['SELECT * FROM system.backups', 'The table system.backups'],
      ['SELECT * FROM system.disks', 'The table system.disks'],
      ['SELECT * FROM system.user_processes', 'The table system.user_processes'],
      ["SELECT * FROM merge('system', '^backups$')", 'merge()'],
      ['SYSTEM SHUTDOWN', 'SYSTEM SHUTDOWN'],
      ['SYSTEM RELOAD CONFIG', 'SYSTEM RELOAD CONFIG'],
      ['CREATE VIEW a.v AS SELECT 1', 'CREATE of anything but a table'],
      ['CREATE MATERIALIZED VIEW a.v TO b.secret AS SELECT k, s FROM a.mine', 'CREATE of anything but a table'],
      ["ALTER TABLE a.mine FREEZE WITH NAME 'x'", 'FREEZE'],
      ["ALTER TABLE a.mine FETCH PARTITION 1 FROM '/x'", 'FETCH'],
    ],
    'what a table is made of': [
      ["CREATE TABLE a.t (k Int) ENGINE = Merge('b', '.*')", 'The engine Merge'],
      ['CREATE TABLE a.t (k Int) ENGINE = File(CSV)', 'The engine File'],
      [`CREATE TABLE a.t (k Int) ENGINE = URL(${url}, CSV)`, 'The engine URL'],
      ["CREATE TABLE a.t (k Int) ENGINE = Buffer('b', 'secret', 1, 9, 9, 9, 9, 9, 9)", 'The engine Buffer'],
      [
        "CREATE TABLE a.t (k Int) ENGINE = MergeTree ORDER BY k SETTINGS disk = disk(type = local, path = '/x/')",
        'disk',
      ],
      ["CREATE TABLE a.t (k Int) ENGINE = MergeTree ORDER BY k SETTINGS storage_policy = 'x'", 'storage_policy'],
      [`CREATE TABLE a.t (k String DEFAULT ${hiddenFile}(${path})) ENGINE = Memory`, 'The function file'],
      [
        `CREATE TABLE a.t (k Int, PROJECTION p (SELECT ${hiddenFile}(${path}))) ENGINE = MergeTree ORDER BY k`,
        'The function file',
      ],
      [`ALTER TABLE a.mine ADD COLUMN z String DEFAULT ${hiddenFile}(${path})`, 'The function file'],
      [`ALTER TABLE a.mine UPDATE s = ${hiddenFile}(${path}) WHERE 1`, 'The function file'],
      [
        `CREATE TABLE a.t (k DateTime, s String) ENGINE = MergeTree ORDER BY k TTL k GROUP BY k SET s = any(${hiddenFile}(${path}))`,
        'TTL … SET',
      ],
    ],
    'functions that tell about the server and others': [
      ["SELECT getServerSetting('max_server_memory_usage')", 'The function getServerSetting'],
      ["SELECT hasColumnInTable('b', 'secret', 's')", 'The function hasColumnInTable'],
      ['SELECT defaultRoles()', 'The function defaultRoles'],
      ["SELECT getMacro('x')", 'The function getMacro'],
      ["SELECT aiGenerate('x')", 'The function aiGenerate'],
      ['SELECT no_such_function(1)', 'The function no_such_function'],
    ],
  }
}

/** What a user of the database `a` tries with `b`. */
const confined: [sql: string, params?: Record<string, string>][] = [
  ['SELECT * FROM b.secret'],
  ['SELECT 7 IN b.keys'],
  ['SELECT 7 IN `b`.`keys`'],
  ["SELECT dictGet('b.words', 's', 7::UInt64)"],
  ["SELECT dictGet(concat('b', '.words'), 's', 7::UInt64)"],
  ["SELECT * FROM dictionary('b.words')"],
  ["SELECT * FROM merge('b', 'secret')"],
  ["SELECT * FROM merge(REGEXP('b'), 'secret')"],
  ['CREATE TABLE a.t AS b.secret'],
  ['CREATE TABLE a.t CLONE AS b.secret'],
  ["CREATE TABLE a.t (k String DEFAULT dictGet('b.words', 's', 7::UInt64)) ENGINE = Memory"],
  ['CREATE TABLE a.t ENGINE = Memory AS SELECT * FROM b.secret'],
  ['ALTER TABLE a.other REPLACE PARTITION tuple() FROM b.secret'],
  ['ALTER TABLE a.other ATTACH PARTITION tuple() FROM b.secret'],
  ['ALTER TABLE a.mine MOVE PARTITION tuple() TO TABLE b.secret'],
  ['RENAME TABLE b.secret TO a.t'],
  ['EXCHANGE TABLES a.mine AND b.secret'],
  ['SELECT * FROM {t: Identifier}', { param_t: 'b.secret' }],
  ['SELECT * FROM {d: Identifier}.{t: Identifier}', { param_d: 'b', param_t: 'secret' }],
  ['SELECT 7 IN {d: Identifier}.{t: Identifier}', { param_d: 'b', param_t: 'keys' }],
  ["SELECT * FROM merge({d: String}, 'secret')", { param_d: 'b' }],
  ["SELECT dictGet({d: String}, 's', 7::UInt64)", { param_d: 'b.words' }],
]

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

  test('rows of Values are not evaluated if they have such words', async () => {
    const sql = 'INSERT INTO a.mine FORMAT Values'
    const rows = [
      `(5, ${hiddenFile}('${world.canary}'))`,
      '(5, (SELECT s FROM b.secret))',
      "(5, getMacro('x'))",
      '(5, toString(7 IN b.keys))',
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
  'SELECT version(), currentDatabase(), currentUser(), hostName(), timezone(), uptime()',
]

test.each(['reader', 'analyst'] as const)('%s asks what tools and recipes ask', async (name) => {
  for (const sql of everyday) {
    const { status, text } = await world.ask(name, sql)
    expect(status, `${sql}: ${text}`).toBe(200)
  }
})
