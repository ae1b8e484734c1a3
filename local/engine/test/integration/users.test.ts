import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword } from '../../access/password.js'
import type { Embedded } from '../../spawn.js'
import { type Http, httpTo, start, withDirectory } from './engine.js'

const users = [
  { name: 'reader', databases: ['a'] },
  { name: 'client', databases: ['a'], readonly: 2 },
  { name: 'strict', databases: ['a'], readonly: 1 },
  { name: 'analyst' },
  { name: 'writer', access: 'write', databases: ['a'] },
  { name: 'ingest', access: 'write' },
  { name: 'maker', access: 'own', databases: ['a'] },
  {
    name: '1.odd-name',
    databases: ['a'],
    settings: { max_threads: 3 },
    constraints: { max_threads: { max: 4 }, max_block_size: { min: 10 }, max_memory_usage: { const: true } },
  },
  { name: 'thrifty', quota: { interval_seconds: 1_000_000_000, requests: 3 } },
  { name: 'rows', quota: { interval_seconds: 1_000_000_000, result_rows: 10 } },
  { name: 'keyed', quota: { interval_seconds: 1_000_000_000, requests: 1, keyed: true } },
]

/** A users file in which every password is the user's name. */
function usersFile(directory: string, entries: object[] = users): string {
  const path = join(directory, 'users.json')
  const withHashes = entries.map((user) => ({ ...user, ...hashPassword((user as { name: string }).name) }))
  writeFileSync(path, JSON.stringify({ users: withHashes }), { mode: 0o600 })
  return path
}

const credentialsOf = (name: string) => ({ 'X-ClickHouse-User': name, 'X-ClickHouse-Key': name })

let engine: Embedded
let owner: Http
let end: () => void
let ended: Promise<void>

/** Sends requests as one of the users. */
const as =
  (name: string) =>
  (query: string, url: Record<string, string> = {}, method = 'POST') =>
    httpTo(engine.url)({ query, url, method, headers: credentialsOf(name) })

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    ended = withDirectory(async (directory) => {
      const env = { CLICKHOUSE_USERS_FILE: usersFile(directory) }
      engine = await start(join(directory, 'data'), { env, maxConcurrentQueries: 20 })
      owner = httpTo(engine.url)
      for (const sql of [
        'CREATE DATABASE a',
        'CREATE DATABASE b',
        'CREATE TABLE a.mine (k UInt64, s String) ENGINE = MergeTree ORDER BY k',
        "INSERT INTO a.mine SELECT 1, 'shared'",
        'CREATE TABLE a.secret AS a.mine',
        'CREATE TABLE b.secret AS a.mine',
        "INSERT INTO b.secret SELECT 7, 'topsecret'",
        'CREATE VIEW b.seen AS SELECT * FROM b.secret',
        'CREATE VIEW a.window AS SELECT * FROM b.secret',
        'CREATE TABLE b.joined (k UInt64, s String) ENGINE = Join(ANY, LEFT, k)',
        "INSERT INTO b.joined SELECT 7, 'topsecret'",
        "CREATE DICTIONARY b.words (k UInt64, s String) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 'secret' DB 'b')) LAYOUT(FLAT()) LIFETIME(0)",
        'SYSTEM RELOAD DICTIONARY b.words',
        'CREATE MATERIALIZED VIEW b.fresh REFRESH EVERY 1 YEAR (s String) ENGINE = MergeTree ORDER BY s AS SELECT s FROM b.secret',
        'CREATE MATERIALIZED VIEW a.fresh REFRESH EVERY 1 YEAR (s String) ENGINE = MergeTree ORDER BY s AS SELECT s FROM a.mine',
        'CREATE TABLE b.gone (topsecret UInt8) ENGINE = MergeTree ORDER BY tuple()',
        'DROP TABLE b.gone',
      ]) {
        expect(await owner(sql), sql).toMatchObject({ status: 200 })
      }
      await new Promise<void>((resolve) => {
        end = resolve
        ready()
      })
      await engine.stop()
    })
    ended.catch(failed)
  })
})
afterAll(async () => {
  end()
  await ended
})

describe('credentials', () => {
  test('all three kinds are accepted; a wrong password and an unknown user get the same response', async () => {
    const http = httpTo(engine.url)
    const basic = (pair: string) => ({ Authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
    for (const ask of [
      { headers: credentialsOf('reader') },
      { headers: basic('reader:reader') },
      { headers: {}, url: { user: 'reader', password: 'reader' } },
    ]) {
      expect(await http({ query: 'SELECT 1', ...ask })).toMatchObject({ status: 200, text: '1\n' })
    }
    const wrong = await http({ query: 'SELECT 1', headers: basic('reader:default') })
    const unknown = await http({ query: 'SELECT 1', headers: basic('nobody:reader') })
    expect(wrong.status).toBe(403)
    expect(unknown.text).toBe(wrong.text.replace('reader', 'nobody'))
    expect(unknown.headers['x-clickhouse-exception-code']).toBe('516')
    for (const name of ['user_reader', 'internal', '']) {
      expect(await http({ query: 'SELECT 1', headers: basic(`${name}:`) })).toMatchObject({ status: 403 })
    }
  })

  test('Plumbline’s own client works for a user with readonly = 2', async () => {
    const client = createClient({
      url: engine.url,
      username: 'client',
      password: 'client',
      database: 'a',
      log: { level: 127 },
    })
    const result = await client.query({
      query: 'SELECT s FROM mine WHERE k = {k: UInt64}',
      query_params: { k: 1 },
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: 'x', max_threads: 1 },
    })
    expect(await result.json()).toEqual([{ s: 'shared' }])
    await expect(client.insert({ table: 'mine', values: [{ k: 2 }], format: 'JSONEachRow' })).rejects.toThrow()
    await client.close()
  })
})

describe('what a user of one database cannot see', () => {
  const reads = [
    'SELECT * FROM b.secret',
    'SELECT s FROM secret',
    'SELECT * FROM b.seen',
    'SELECT * FROM a.window',
    'SELECT * FROM b.fresh',
    "SELECT * FROM merge('b', '.*')",
    "SELECT * FROM merge(REGEXP('.*'), 'secret')",
    "SELECT * FROM loop('b', 'secret') LIMIT 1",
    "SELECT * FROM mergeTreeIndex('b', 'secret')",
    'SELECT * FROM view(SELECT * FROM b.secret)',
    "SELECT * FROM viewIfPermitted(SELECT s FROM b.secret ELSE null('s String'))",
    "SELECT * FROM remote('127.0.0.1', b.secret)",
    "SELECT dictGet('b.words', 's', 7::UInt64)",
    "SELECT dictGetOrDefault('b.words', 's', 7::UInt64, '')",
    "SELECT * FROM dictionary('b.words')",
    "SELECT joinGet('b.joined', 's', 7::UInt64)",
    'SELECT * FROM a.mine ANY LEFT JOIN b.joined USING k',
    'SELECT 7 IN b.secret',
    'SELECT 7 IN (SELECT k FROM b.secret)',
    'SELECT sum(k) FROM b.secret SETTINGS use_query_cache = 1',
    'CREATE TEMPORARY TABLE stolen AS SELECT * FROM b.secret',
    'EXPLAIN SELECT * FROM b.secret',
    'EXPLAIN ESTIMATE SELECT * FROM b.secret',
    'EXPLAIN QUERY TREE SELECT * FROM b.secret',
    'EXPLAIN SYNTAX run_query_tree_passes = 1 SELECT * FROM b.secret',
    'SELECT * FROM (EXPLAIN QUERY TREE SELECT * FROM b.secret)',
    "SELECT * FROM viewExplain('EXPLAIN QUERY TREE', '', (SELECT * FROM b.secret))",
    'DESCRIBE b.secret',
    'SHOW CREATE TABLE b.secret',
    'SHOW CREATE DATABASE b',
    'SHOW COLUMNS FROM b.secret',
    'SHOW TABLES FROM b',
    'EXISTS b.secret',
    "SELECT hasColumnInTable('b', 'secret', 's')",
    'USE b',
    "SELECT * FROM system.tables WHERE database = 'b'",
    "SELECT * FROM system.columns WHERE database = 'b'",
    "SELECT * FROM system.parts WHERE database = 'b'",
    "SELECT * FROM system.databases WHERE name = 'b'",
    "SELECT * FROM system.dictionaries WHERE database = 'b'",
    "SELECT * FROM system.view_refreshes WHERE database = 'b'",
    "SELECT * FROM system.dropped_tables WHERE database = 'b'",
    'SELECT * FROM system.query_cache',
    'SELECT * FROM system.users',
    'SELECT * FROM system.roles',
    'SELECT * FROM system.grants',
    'SHOW CREATE USER default',
    'SHOW ACCESS',
    'BACKUP DATABASE b TO Memory(1)',
  ]

  test.each(['reader', 'client', 'strict', 'writer', 'maker'])(
    '%s sees no data, columns or names of other databases',
    async (name) => {
      await owner('SELECT sum(k) FROM b.secret SETTINGS use_query_cache = 1')
      for (const sql of reads) {
        const { status, text } = await as(name)(sql)
        // An empty result reveals as little as an error.
        if (status === 200) expect(text.replace('0\n', ''), `${name}: ${sql}`).toBe('')
        else expect([400, 403, 404, 500], `${name}: ${sql}: ${text}`).toContain(status)
        expect(text, `${name}: ${sql}`).not.toContain('topsecret')
      }
      for (const url of [{ database: 'b' }, { database: 'b', session_id: 'b' }]) {
        expect(await as(name)('SELECT * FROM secret', url)).toMatchObject({ status: 403 })
      }
      expect(await as(name)('SELECT s FROM mine', { database: 'a' })).toMatchObject({ text: 'shared\n' })
      expect((await as(name)('SHOW DATABASES')).text).not.toContain('b\n')
    },
  )

  test('SHOW GRANTS shows the user’s own rights and nothing about others', async () => {
    for (const sql of ['SHOW GRANTS', 'SHOW GRANTS FINAL', 'SHOW GRANTS FOR user_default', 'SHOW GRANTS FOR default']) {
      const { text } = await as('reader')(sql)
      expect(text).toContain('SELECT, dictGet ON a.*')
      expect(text).not.toContain('INSERT')
      expect(text).not.toContain('writer')
    }
  })

  test('an error contains the user’s own name', async () => {
    expect((await as('reader')('SELECT * FROM b.secret')).text).toMatch(
      /^Code: 497\. DB::Exception: reader: Not enough privileges\. .*grant SELECT ON b\.secret/,
    )
  })
})

describe('what users cannot change', () => {
  const inB = [
    "INSERT INTO b.secret VALUES (1, 'x')",
    "INSERT INTO b.secret SELECT 1, 'x'",
    "INSERT INTO b.secret SELECT k, s FROM input('k UInt64, s String') FORMAT CSV 1,x",
    "INSERT INTO a.mine SELECT 9, explain FROM (EXPLAIN QUERY TREE SELECT * FROM b.secret), input('a UInt8') FORMAT CSV 1",
    "INSERT INTO FUNCTION remote('127.0.0.1', b.secret) VALUES (1, 'x')",
    'TRUNCATE TABLE b.secret',
    'DELETE FROM b.secret WHERE 1',
    "ALTER TABLE b.secret UPDATE s = '' WHERE 1",
    'ALTER TABLE b.secret DROP COLUMN s',
    'OPTIMIZE TABLE b.secret',
    'DROP TABLE b.secret',
    'DROP DATABASE b',
    'DETACH TABLE b.secret',
    'RENAME TABLE b.secret TO a.stolen',
    'EXCHANGE TABLES a.secret AND b.secret',
    'ALTER TABLE a.secret REPLACE PARTITION tuple() FROM b.secret',
    'ALTER TABLE a.mine MOVE PARTITION tuple() TO TABLE b.secret',
    'SYSTEM REFRESH VIEW b.fresh',
    'UNDROP TABLE b.gone',
    'CREATE TABLE b.more (a UInt8) ENGINE = Memory',
    'CREATE DATABASE c',
    'CREATE FUNCTION more AS x -> x',
    'SYSTEM DROP QUERY CACHE',
    "RESTORE TABLE b.secret AS a.secret FROM File('x')",
    'GRANT SELECT ON *.* TO default',
    'CREATE USER more',
    'CREATE ROLE more',
    'CREATE ROW POLICY more ON a.mine USING 1',
    "CREATE SETTINGS PROFILE more SETTINGS readonly = '0'",
  ]
  const inA = [
    'CREATE TABLE a.more (a UInt8) ENGINE = Memory',
    'ALTER TABLE a.mine ADD COLUMN more UInt8',
    'DROP TABLE a.mine',
    'DETACH TABLE a.mine',
  ]
  const rows = [
    "INSERT INTO a.mine VALUES (2, 'x')",
    "ALTER TABLE a.mine UPDATE s = '' WHERE k = 2",
    'DELETE FROM a.mine WHERE k = 2',
    'OPTIMIZE TABLE a.mine',
    'TRUNCATE TABLE a.secret',
    'SYSTEM REFRESH VIEW a.fresh',
  ]
  const state = async () => {
    const { text } = await owner(
      "SELECT (SELECT groupArray((k, s)) FROM b.secret), (SELECT groupArray(name) FROM (SELECT name FROM system.tables WHERE database IN ('a', 'b') AND NOT startsWith(name, '.') ORDER BY name))",
    )
    return text
  }

  test.each([
    ['reader', [...inB, ...inA, ...rows]],
    ['client', [...inB, ...inA, ...rows]],
    ['strict', [...inB, ...inA, ...rows, 'CREATE TEMPORARY TABLE t (a UInt8)']],
    ['analyst', [...inB, ...inA, ...rows]],
    ['writer', [...inB, ...inA]],
    ['maker', inB],
  ])('%s', async (name, statements) => {
    const before = await state()
    for (const sql of statements) {
      const { status, text } = await as(name)(sql)
      expect([400, 403, 500], `${name}: ${sql}: ${text}`).toContain(status)
    }
    expect(await state()).toBe(before)
  })

  test('a user with write access has every right that ingest needs, in their databases', async () => {
    for (const name of ['writer', 'ingest', 'maker']) {
      for (const sql of rows) expect(await as(name)(sql), `${name}: ${sql}`).toMatchObject({ status: 200 })
    }
    expect(await as('ingest')("ALTER TABLE b.joined UPDATE s = 'x' WHERE 0")).not.toMatchObject({ status: 403 })
    for (const sql of ['TRUNCATE TABLE server_log.query_log', "INSERT INTO server_log.query_log (query) SELECT 'x'"]) {
      expect(await as('ingest')(sql), sql).toMatchObject({ status: 403 })
    }
  })

  test('nothing that the engine runs by itself gives an owner of one database more rights', async () => {
    for (const sql of [
      'CREATE VIEW a.v (k UInt64, s String) DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT * FROM b.secret',
      'CREATE OR REPLACE VIEW a.v (k UInt64, s String) SQL SECURITY DEFINER AS SELECT * FROM b.secret',
      "CREATE MATERIALIZED VIEW a.v REFRESH EVERY 1 YEAR (k UInt64, s String) ENGINE = Memory AS SELECT * FROM merge(REGEXP('a|b'), '^secret$')",
      "CREATE MATERIALIZED VIEW a.v (s String) ENGINE = Memory AS SELECT s FROM a.mine CROSS JOIN merge(REGEXP('a|b'), '^secret$')",
      'ALTER TABLE a.window MODIFY SQL SECURITY DEFINER',
      "ALTER TABLE a.fresh MODIFY QUERY SELECT s FROM merge('b', 'secret')",
      "CREATE DICTIONARY a.d (k UInt64, s String) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 'secret' DB 'b')) LAYOUT(FLAT()) LIFETIME(0)",
    ]) {
      const { status, text } = await as('maker')(sql)
      expect(status, `${sql}: ${text}`).toBe(403)
    }
    for (const engineOf of ["Merge('b', 'secret')", "Buffer('b', 'secret', 1, 9, 9, 9, 9, 9, 9)", 'Alias(b.secret)']) {
      const sql = `CREATE TABLE a.other (k UInt64, s String) ENGINE = ${engineOf}`
      expect(await as('maker')(sql), sql).toMatchObject({ status: 403 })
    }
    expect(await owner('SELECT s FROM b.secret')).toMatchObject({ text: 'topsecret\n' })
  })
})

describe('users cannot extend their own rights', () => {
  test('by a role, a profile, another user or readonly', async () => {
    for (const sql of [
      'SET ROLE user_default',
      'SET/**/role ALL',
      'SET ROLE DEFAULT',
      'SET DEFAULT ROLE ALL TO default',
      "SET profile = 'default'",
      "SET max_threads = 1, `profile` = 'default'",
      "SELECT 1 SETTINGS profile = 'default'",
      'SELECT * FROM (SELECT 1 SETTINGS "profile" = \'default\')',
      'EXECUTE AS default SELECT 1',
      'CREATE TEMPORARY TABLE t (a UInt8) PARALLEL WITH SET ROLE user_default',
      "SET chdb_client_name = 'internal'",
      "SELECT 1 SETTINGS chdb_client_name = 'default/1'",
      'SET readonly = 0',
      'SELECT 1 SETTINGS readonly = 0',
    ]) {
      for (const url of [{}, { session_id: 'raise' }]) {
        expect((await as('client')(sql, url)).status, `${sql} ${JSON.stringify(url)}`).not.toBe(200)
      }
    }
    for (const url of [{ profile: 'default' }, { role: 'user_default' }, { chdb_client_name: 'internal' }] as const) {
      expect((await as('client')('SELECT 1', { ...url })).status, JSON.stringify(url)).not.toBe(200)
    }
    expect((await as('client')("SELECT getSetting('readonly')", { readonly: '0' })).text).toBe('2\n')
    expect((await as('client')('SELECT s FROM b.secret', { session_id: 'raise' })).status).toBe(403)
  })

  test('by settings: readonly = 1 allows no change of settings, and GET only reads, also in sessions', async () => {
    for (const url of [
      { max_block_size: '77' },
      { readonly: '2' },
      { max_block_size: '77', session_id: 's' },
    ] as const) {
      const answer = await as('strict')('SELECT 1', { ...url })
      expect(answer.headers['x-clickhouse-exception-code'], JSON.stringify(url)).toBe('164')
    }
    const form = new FormData()
    form.append('t', new Blob(['1\n']), 't')
    const target = new URL(engine.url)
    target.search = String(
      new URLSearchParams({ query: 'SELECT * FROM t', t_structure: 'a UInt8', max_block_size: '77' }),
    )
    const withTable = await fetch(target, { method: 'POST', body: form, headers: credentialsOf('strict') })
    expect(withTable.headers.get('x-clickhouse-exception-code')).toBe('164')
    for (const sql of ['SYSTEM DROP QUERY CACHE', "INSERT INTO a.mine SELECT 9, ''", 'TRUNCATE TABLE a.mine']) {
      for (const url of [{}, { session_id: 'get' }]) {
        const { status, text } = await httpTo(engine.url)({ query: sql, url, method: 'GET' })
        expect(status, `${sql}: ${text}`).toBe(500)
        expect(text).toContain('READONLY')
      }
    }
  })

  test('by settings of their queries: the user’s own settings and constraints apply', async () => {
    const ask = as('1.odd-name')
    const code = async (sql: string, url = {}) => (await ask(sql, url)).headers['x-clickhouse-exception-code']
    expect((await ask("SELECT getSetting('max_threads')")).text).toBe('3\n')
    expect((await ask("SELECT getSetting('max_threads')", { max_threads: '2' })).text).toBe('2\n')
    expect(await code('SELECT 1', { max_threads: '5' })).toBe('452')
    expect(await code('SELECT 1 SETTINGS max_threads = 5')).toBe('452')
    expect(await code('SET max_threads = 5', { session_id: 's' })).toBe('452')
    expect(await code('SELECT 1', { max_block_size: '9' })).toBe('452')
    expect(await code('SELECT 1', { max_memory_usage: '9' })).toBe('452')
    expect(await code("INSERT INTO a.mine VALUES (1 + 1, 'x')")).toBe('497')
  })

  test('by settings of their queries: what is not theirs to change may be sent with the server’s own value', async () => {
    const ask = as('1.odd-name')
    expect((await ask('SELECT 1', { use_query_cache: '0', compatibility: '' })).text).toBe('1\n')
    const refused = await ask('SELECT 1', { use_query_cache: '1' })
    expect(refused.headers['x-clickhouse-exception-code']).toBe('452')
  })
})

describe('the queries of others', () => {
  const slow = 'SELECT sleepEachRow(0.2) FROM numbers(200) SETTINGS max_block_size = 1'

  /** Resolves when the owner sees the query. */
  const appears = async (id: string) => {
    for (let i = 0; i < 250; i++) {
      const { text } = await owner(`SELECT count() FROM system.processes WHERE query_id = '${id}'`)
      if (text === '1\n') return
      await sleep(20)
    }
    throw new Error(`${id} does not show up`)
  }

  test('can neither be seen nor killed, in any way', async () => {
    const hidden = owner({ query: `${slow}, log_comment = 'topsecret'`, url: { query_id: 'of-owner' } })
    const own = as('analyst')(slow, { query_id: 'of-analyst' })
    await appears('of-owner')
    await appears('of-analyst')
    for (const name of ['analyst', 'reader', 'maker', 'ingest']) {
      for (const sql of [
        'SELECT * FROM system.processes',
        'SHOW PROCESSLIST',
        'SELECT system.processes.query FROM system.processes',
        "SELECT query FROM merge('system', '^processes$')",
        "SELECT query FROM merge('system', '^processes$') SETTINGS enable_analyzer = 0",
        'SELECT query FROM loop(system.processes) LIMIT 5',
        'SELECT query FROM `system`.`processes` AS p',
        'SELECT * FROM system.errors',
      ]) {
        expect((await as(name)(sql)).text, `${name}: ${sql}`).not.toMatch(/topsecret|of-owner/)
      }
      expect((await as(name)('SELECT query FROM processes', { database: 'system' })).text).not.toContain('topsecret')
      for (const engineOf of ['Buffer(system, processes, 1, 9, 9, 9, 9, 9, 9)', 'Alias(system, processes)']) {
        const url = { session_id: 'behind' }
        await as(name)(`CREATE TEMPORARY TABLE behind (query String) ENGINE = ${engineOf}`, url)
        expect((await as(name)('SELECT query FROM behind', url)).text, `${name}: ${engineOf}`).not.toContain(
          'topsecret',
        )
      }
      for (const sql of ["KILL QUERY WHERE query_id = 'of-owner' SYNC", "KILL QUERY WHERE user = 'default'"]) {
        expect((await as(name)(sql)).text, `${name}: ${sql}`).toBe('')
      }
    }
    expect((await as('analyst')("SELECT count() FROM system.processes WHERE query_id = 'of-analyst'")).text).toBe('1\n')
    expect((await as('reader')("KILL QUERY WHERE query_id = 'of-analyst' SYNC")).text).toBe('')
    expect((await as('analyst')("KILL QUERY WHERE query_id = 'of-analyst' SYNC")).text).toContain('of-analyst')
    expect((await own).text).toContain('QUERY_WAS_CANCELLED')
    await owner("KILL QUERY WHERE query_id = 'of-owner' SYNC")
    expect((await hidden).text).toContain('QUERY_WAS_CANCELLED')
  })

  test('are hidden in the query log; an owner sees all of it', async () => {
    await as('reader')("SELECT 'of reader'", { query_id: 'logged-reader' })
    await owner({ query: "SELECT 'topsecret'", url: { query_id: 'logged-owner' } })
    await owner('SYSTEM FLUSH LOGS')
    const ids = (name: string) => as(name)("SELECT query_id FROM system.query_log WHERE query_id LIKE 'logged-%'")
    expect((await ids('reader')).text).toBe('logged-reader\n')
    expect((await ids('analyst')).text).toBe('')
    expect((await as('analyst')('SELECT query FROM server_log.query_log')).text).not.toContain('topsecret')
    const all = await owner("SELECT query_id FROM system.query_log WHERE query_id LIKE 'logged-%' ORDER BY query_id")
    expect(all.text).toBe('logged-owner\nlogged-reader\n')
  })

  test('have sessions and temporary tables that cannot be accessed', async () => {
    const url = { session_id: 'shared' }
    await owner({ query: 'CREATE TEMPORARY TABLE kept (a UInt8)', url })
    expect(await as('reader')('SELECT * FROM kept', url)).toMatchObject({ status: 404 })
    expect((await as('reader')('SELECT 1', { ...url, session_check: '1' })).status).toBe(200)
    expect((await as('analyst')('SELECT 1', { ...url, session_check: '1' })).status).not.toBe(200)
    expect((await as('analyst')('SELECT 1', { session_id: '../default/shared', session_check: '1' })).status).not.toBe(
      200,
    )
    expect(await owner({ query: 'SELECT count() FROM kept', url })).toMatchObject({ text: '0\n' })
  })
})

describe('quotas', () => {
  test('a user beyond the quota gets an error that says when the next interval begins', async () => {
    for (let i = 0; i < 3; i++) expect(await as('thrifty')('SELECT 1')).toMatchObject({ status: 200 })
    const { text, headers } = await as('thrifty')('SELECT 1')
    expect(headers['x-clickhouse-exception-code']).toBe('201')
    expect(text).toMatch(
      /^Code: 201\. DB::Exception: Quota for user `thrifty` for 1000000000s has been exceeded: requests = 4\/3\. Interval will end at 2033-05-18 03:33:20\. \(QUOTA_EXCEEDED\)/,
    )
    expect(await as('reader')('SELECT 1')).toMatchObject({ status: 200 })
  })

  test('rows of results count, and each key is counted separately', async () => {
    expect(await as('rows')('SELECT * FROM numbers(9)')).toMatchObject({ status: 200 })
    expect(await as('rows')('SELECT * FROM numbers(9)')).toMatchObject({ status: 200 })
    expect((await as('rows')('SELECT 1')).text).toContain('result_rows = 18/10')
    for (const quota_key of ['x', 'y']) {
      expect(await as('keyed')('SELECT 1', { quota_key })).toMatchObject({ status: 200 })
      expect((await as('keyed')('SELECT 1', { quota_key })).text).toContain('QUOTA_EXCEEDED')
      const headers = { ...credentialsOf('keyed'), 'X-ClickHouse-Quota': quota_key }
      expect((await httpTo(engine.url)({ query: 'SELECT 1', headers })).text).toContain('QUOTA_EXCEEDED')
    }
  })
})

test('users stay the same after a restart, and another file defines other users', async () => {
  await withDirectory(async (directory) => {
    const ask = async (entries: object[]) => {
      const env = { CLICKHOUSE_USERS_FILE: usersFile(directory, entries) }
      const started = await start(join(directory, 'data'), { env })
      const answers = ['first', 'second'].map((name) =>
        httpTo(started.url)({ query: 'SELECT 1', headers: credentialsOf(name) }),
      )
      const statuses = (await Promise.all(answers)).map(({ status }) => status)
      await started.stop()
      return statuses
    }
    expect(await ask([{ name: 'first' }])).toEqual([200, 403])
    expect(await ask([{ name: 'first' }])).toEqual([200, 403])
    expect(await ask([{ name: 'second' }])).toEqual([403, 200])
  })
})

test('an unknown setting fails the start with an error that names the setting and its user', async () => {
  await withDirectory(async (directory) => {
    const entries = ['one', 'two'].map((name) => ({ name, settings: { [`no_such_${name}`]: 1 } }))
    const env = { CLICKHOUSE_USERS_FILE: usersFile(directory, entries) }
    await expect(start(join(directory, 'data'), { env })).rejects.toThrow(/one: .*no_such_one.*two: .*no_such_two/s)
  })
})
