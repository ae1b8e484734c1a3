import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { hashPassword } from '../../../access/password.js'
import { httpTo, start, withDirectory } from '../engine.js'

/** Text that only the canary file has, only another user's table and its definition, only the owner's queries. */
export const inFile = 'canaryInTheFile'
export const inOthers = 'topsecretOfOthers'
export const inQueries = 'queryOfTheOwner'

/** Users of the policy's tests: one of a database, one of all, and one who owns a database. */
export const strangers = ['reader', 'analyst', 'maker'] as const
type Name = (typeof strangers)[number] | 'writer' | 'owner'

export type World = {
  ask(name: Name, query: string, url?: Record<string, string>, body?: string): Promise<{ status: number; text: string }>
  /** A file that the engine's process can read. */
  canary: string
  /** A file that is not there, in a directory that the process can write. */
  unwritten: string
  /** A port at which something listens. */
  port: number
  /** Calls of the listener so far. */
  calls(): number
  /** The UUID of another user's table. */
  uuid: string
  /** The canary file, as it is now. */
  canaryText(): string
}

const users = [
  { name: 'reader', databases: ['a'] },
  { name: 'analyst' },
  { name: 'maker', access: 'own', databases: ['a'] },
  { name: 'writer', access: 'write', databases: ['a'] },
]

const schema = [
  'CREATE DATABASE a',
  'CREATE DATABASE b',
  'CREATE TABLE a.mine (k UInt64, s String) ENGINE = MergeTree ORDER BY k',
  "INSERT INTO a.mine SELECT 1, 'shared'",
  'CREATE TABLE a.other (k UInt64, s String) ENGINE = MergeTree ORDER BY k',
  'CREATE TABLE a.parted (s String) ENGINE = MergeTree PARTITION BY s ORDER BY tuple()',
  "INSERT INTO a.parted SELECT 'x'",
  'CREATE VIEW a.one AS SELECT s FROM a.mine WHERE k = {k: UInt64}',
  `CREATE TABLE b.secret (k UInt64, s String COMMENT '${inOthers}') ENGINE = MergeTree ORDER BY k COMMENT '${inOthers}'`,
  `INSERT INTO b.secret SELECT 7, '${inOthers}'`,
  'CREATE TABLE b.keys (k UInt64) ENGINE = Set',
  'INSERT INTO b.keys VALUES (7)',
  'CREATE TABLE default.keys (k UInt64) ENGINE = Set',
  'INSERT INTO default.keys VALUES (7)',
  `CREATE FUNCTION owners AS (x) -> concat(x, '${inQueries}')`,
  'CREATE TABLE b.joined (k UInt64, s String) ENGINE = Join(ANY, LEFT, k)',
  `INSERT INTO b.joined SELECT 7, '${inOthers}'`,
  "CREATE DICTIONARY b.words (k UInt64, s String) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 'secret' DB 'b')) LAYOUT(FLAT()) LIFETIME(0)",
  'SYSTEM RELOAD DICTIONARY b.words',
  "CREATE DICTIONARY default.words (k UInt64, s String) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 'secret' DB 'b')) LAYOUT(FLAT()) LIFETIME(0)",
  'SYSTEM RELOAD DICTIONARY default.words',
  `CREATE TABLE b.${inOthers} (${inOthers} UInt64 CODEC(ZSTD), INDEX ${inOthers} ${inOthers} TYPE minmax, PROJECTION ${inOthers} (SELECT ${inOthers} ORDER BY ${inOthers})) ENGINE = MergeTree ORDER BY ${inOthers}`,
  `CREATE MATERIALIZED VIEW b.refreshed_${inOthers} REFRESH EVERY 1 HOUR (k UInt64) ENGINE = MergeTree ORDER BY k AS SELECT k FROM b.secret`,
  `ALTER TABLE b.secret UPDATE s = concat(s, '${inOthers}') WHERE k > 100`,
  'CREATE VIEW a.through AS SELECT * FROM b.secret',
  `SELECT '${inQueries}'`,
  'SYSTEM FLUSH LOGS',
]

/** Runs as long as the engine. */
const endless = `SELECT sleepEachRow(1), '${inQueries}' FROM numbers(1000000) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0`

/** An engine with users, a file, a listener and another user's table; `use` gets it, and it is gone afterwards. */
export function withWorld(use: (world: World) => Promise<void>): Promise<void> {
  return withDirectory(async (directory) => {
    const canary = join(directory, 'canary.csv')
    writeFileSync(canary, inFile)
    mkdirSync(join(directory, 'out'))
    const usersFile = join(directory, 'users.json')
    const entries = users.map((user) => ({ ...user, ...hashPassword(user.name) }))
    writeFileSync(usersFile, JSON.stringify({ users: entries }), { mode: 0o600 })
    let calls = 0
    const listener = createServer((socket) => {
      calls++
      socket.destroy()
    })
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening))
    const engine = await start(join(directory, 'data'), {
      // What the rules for SQL let through would otherwise be stopped by the sandbox, and go unnoticed.
      env: { CLICKHOUSE_USERS_FILE: usersFile, CLICKHOUSE_SANDBOX: 'off' },
      maxConcurrentQueries: 20,
    })
    const http = httpTo(engine.url)
    const ask: World['ask'] = (name, query, url = {}, body) => {
      const headers = { 'X-ClickHouse-User': name, 'X-ClickHouse-Key': name }
      return body === undefined
        ? http({ body: query, url, ...(name !== 'owner' && { headers }) })
        : http({ query, body, url, ...(name !== 'owner' && { headers }) })
    }
    try {
      for (const sql of schema) {
        const { status, text } = await ask('owner', sql)
        if (status !== 200) throw new Error(`${sql}: ${text}`)
      }
      ask('owner', endless).catch(() => undefined)
      const { text } = await ask('owner', "SELECT uuid FROM system.tables WHERE database = 'b' AND name = 'secret'")
      await use({
        ask,
        canary,
        unwritten: join(directory, 'out', 'written'),
        port: (listener.address() as AddressInfo).port,
        calls: () => calls,
        uuid: text.trim(),
        canaryText: () => readFileSync(canary, 'utf8'),
      })
    } finally {
      await engine.stop()
      listener.close()
    }
  })
}
