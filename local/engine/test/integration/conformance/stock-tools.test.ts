import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { ClickhouseDialect } from '@founderpath/kysely-clickhouse'
import { type Dialect, Kysely, sql as raw } from 'kysely'
import { expect } from 'vitest'
import { conforms, server } from './server.js'

// Third-party tools for ClickHouse, as installed from npm.

const require = createRequire(import.meta.url)

type Apla = {
  query(sql: string, options?: object, done?: (error: Error | null, result: unknown) => void): Duplex
  querying(
    sql: string,
    options?: object,
  ): Promise<{ data: unknown[]; rows: number; meta: { name: string; type: string }[] }>
  pinging(): Promise<unknown>
}

/** A client with its own HTTP stack and parsers. */
function apla(database: string): Apla {
  const ClickHouse = require('@apla/clickhouse') as new (options: object) => Apla
  const { hostname, port } = new URL(server.url)
  return new ClickHouse({
    host: hostname,
    port: Number(port),
    user: server.user,
    password: server.password,
    queryOptions: { database },
  })
}

conforms('@apla/clickhouse: the schema, streams of rows both ways and errors work', async ({ database }) => {
  const clickhouse = apla(database)
  await clickhouse.pinging()
  await clickhouse.querying('CREATE TABLE apla (id UInt32, name String, at DateTime) ENGINE = MergeTree ORDER BY id')
  await new Promise<void>((resolve, reject) => {
    const rows = clickhouse.query('INSERT INTO apla', { format: 'TSV' }, (error) => (error ? reject(error) : resolve()))
    for (let id = 0; id < 20_000; id++) rows.write([id, `it's\t"${id}"\n`, new Date(1_700_000_000_000)])
    rows.end()
  })
  const { data, meta } = await clickhouse.querying(
    'SELECT count() AS c, sum(id) AS s, max(length(name)) AS l FROM apla',
  )
  expect(meta.map(({ name }) => name)).toEqual(['c', 's', 'l'])
  expect((data[0] as unknown[]).map(Number)).toEqual([20_000, 199_990_000, 13])
  let seen = 0
  for await (const _ of clickhouse.query('SELECT * FROM apla ORDER BY id')) seen++
  expect(seen).toBe(20_000)
  await expect(clickhouse.querying('SELECT * FROM nowhere')).rejects.toThrow('UNKNOWN_TABLE')
  await expect(clickhouse.querying('SELEC 1')).rejects.toThrow('SYNTAX_ERROR')
})

conforms('kysely builds schemas, inserts, joins and streams', async ({ database }) => {
  type Tables = { trades: { id: number; pair: string; price: number }; pairs: { pair: string; base: string } }
  const { url, user, password } = server
  const dialect = new ClickhouseDialect({ options: { url, username: user, password, database } })
  // Its types are those of kysely's CommonJS build.
  const db = new Kysely<Tables>({ dialect: dialect as unknown as Dialect })
  await raw`CREATE TABLE trades (id UInt32, pair String, price Float64) ENGINE = MergeTree ORDER BY id`.execute(db)
  await raw`CREATE TABLE pairs (pair String, base String) ENGINE = MergeTree ORDER BY pair`.execute(db)
  const pairs = [
    { pair: 'A/B', base: "it's A" },
    { pair: 'C/D', base: 'C' },
  ]
  await db.insertInto('pairs').values(pairs).execute()
  const trades = Array.from({ length: 1000 }, (_, id) => ({ id, pair: id % 2 ? 'A/B' : 'C/D', price: id / 4 }))
  await db.insertInto('trades').values(trades).execute()
  const means = await db
    .selectFrom('trades')
    .innerJoin('pairs', 'pairs.pair', 'trades.pair')
    .select(['pairs.base', (e) => e.fn.avg('trades.price').as('mean')])
    .where('trades.id', '<', 10)
    .groupBy('pairs.base')
    .orderBy('pairs.base')
    .execute()
  expect(means).toEqual([
    { base: 'C', mean: 1 },
    { base: "it's A", mean: 1.25 },
  ])
  await db.updateTable('pairs').set({ base: 'D' }).where('pair', '=', 'C/D').execute()
  await db.deleteFrom('trades').where('id', '>=', 500).execute()
  const left = await db
    .selectFrom('trades')
    .select((e) => e.fn.countAll().as('n'))
    .executeTakeFirst()
  expect(Number(left?.n)).toBe(500)
  const tables = await db.introspection.getTables()
  expect(
    tables
      .filter((table) => table.schema === database)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(expect.arrayContaining(['pairs', 'trades']))
  await expect(raw`SELECT nothing`.execute(db)).rejects.toMatchObject({ code: '47' })
  await db.destroy()
})

conforms('clickhouse-migrations applies a schema once', async ({ database, sql }) => {
  const home = await mkdtemp(join(tmpdir(), 'conformance-migrations-'))
  await writeFile(
    join(home, '1_init.sql'),
    `-- two statements; one file\nSET max_threads = 1;\nCREATE TABLE migrated (a UInt32) ENGINE = MergeTree ORDER BY a;`,
  )
  await writeFile(join(home, '2_rows.sql'), 'INSERT INTO migrated SELECT number FROM numbers(3);')
  const cli = require.resolve('clickhouse-migrations/lib/cli.js')
  const { url, user, password } = server
  const args = [
    'migrate',
    '--host',
    url,
    '--user',
    user,
    '--password',
    password,
    '--db',
    database,
    '--migrations-home',
    home,
  ]
  for (let i = 0; i < 2; i++) await promisify(execFile)(process.execPath, [cli, ...args])
  expect(await sql('SELECT sum(a), count() FROM migrated')).toBe('3\t3\n')
  expect(await sql('SELECT version, migration_name FROM _migrations ORDER BY version')).toBe(
    '1\t1_init.sql\n2\t2_rows.sql\n',
  )
  await rm(home, { recursive: true })
})
