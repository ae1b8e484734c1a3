import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { applyRetention, type RetentionEnv } from '../facts/retention.js'
import { type ClickHouseEnv, connect } from '../store/client.js'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { QueryError } from '../store/query-error.js'
import type { Topology } from '../store/replicas.js'
import { createDatabase, refreshedTables, rendered } from './render.js'

/** The database and this program disagree about the schema's history, so continuing could damage data. */
class MigrationError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

type Migration = { version: number; name: string; checksum: string; statements: string[] }

/** Longer than a server waits for the other replicas of a statement. */
const TIMEOUT_MS = 240_000

const LOOKS = 10
const LOOK_MS = 500

/** The folder of the numbered files. */
export const SCHEMA = new URL('./', import.meta.url)

const BOOKKEEPING = `
  CREATE TABLE IF NOT EXISTS schema_migrations
  (
      version    UInt32,
      name       String,
      checksum   String COMMENT 'SHA-256 of the file',
      applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
  )
  ENGINE = MergeTree ORDER BY version
  SETTINGS non_replicated_deduplication_window = 1000`

const appliedMigrations = defineQuery({
  name: 'applied_migrations',
  row: z.object({ version: z.int(), name: z.string(), checksum: z.string() }),
  sql: 'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
})

/** The engine of a database; null if there is none of that name. */
const databaseEngine = defineOptionalRow({
  name: 'database_engine',
  params: z.object({ database: z.string() }),
  row: onlyColumn('engine', z.string()),
  sql: 'SELECT engine FROM system.databases WHERE name = {database: String}',
})

/** The engine of a table; null if there is none. Its name is bound, since a replica waits for tables that a statement names. */
const tableEngine = defineOptionalRow({
  name: 'table_engine',
  params: z.object({ database: z.string(), table: z.string() }),
  row: onlyColumn('engine', z.string()),
  sql: 'SELECT engine FROM system.tables WHERE database = {database: String} AND name = {table: String}',
})

const topologyOf = (engine: string): Topology =>
  engine.startsWith('Replicated') ? 'replicated' : engine.startsWith('Shared') ? 'cloud' : 'single'

/**
 * The numbered SQL files in order. A `;` at the end of a line ends a statement: the server accepts one statement per
 * request.
 */
async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const statements = sql
        .split(/;[ \t]*$/m)
        .filter((statement) => statement.replace(/^\s*--.*$/gm, '').trim() !== '')
      return {
        version: Number(name.slice(0, 4)),
        name,
        checksum: createHash('sha256').update(sql).digest('hex'),
        statements,
      }
    }),
  )
}

const appliedByVersion = async (clickhouse: ClickHouseClient) =>
  new Map((await appliedMigrations(clickhouse)).map((row) => [row.version, row]))

/**
 * Whether another process that is ahead in the same migration records it within a few seconds: its later statements may
 * have dropped what an earlier one reads.
 */
async function isAppliedSoon(clickhouse: ClickHouseClient, version: number): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    if ((await appliedByVersion(clickhouse)).has(version)) return true
    await sleep(LOOK_MS)
  }
  return false
}

async function run(clickhouse: ClickHouseClient, what: string, query: string): Promise<void> {
  try {
    await clickhouse.command({ query })
  } catch (cause) {
    throw new QueryError(what, cause)
  }
}

/**
 * Creates the database if it does not exist, brings its schema up to date, and makes its tables keep what the RETAIN_…
 * variables say; without one, everything. Returns the names of the migrations that it applied, oldest first; none if the
 * schema was up to date. Safe to repeat after a crash and to run in two processes at once: every statement is idempotent,
 * a migration is recorded after its last statement, and one that another process applied meanwhile is not applied again.
 * Throws if a recorded migration differs from the file with its number, if the database is newer than this program or older
 * than its first file, or if it was made for another topology. `folder` has the numbered files.
 */
export async function migrate(env: ClickHouseEnv & RetentionEnv, folder: URL = SCHEMA): Promise<string[]> {
  const options = { application: 'plumbline-migrate', requestTimeoutMs: TIMEOUT_MS }
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, options)
  const clickhouse = connect(env, options)
  try {
    const { CLICKHOUSE_DATABASE: database, CLICKHOUSE_TOPOLOGY: topology = 'single' } = env
    let engine = await databaseEngine(server, { database })
    if (engine === null) await run(server, 'create database', createDatabase(database, topology))
    engine ??= await databaseEngine(server, { database })
    const migrations = await readMigrations(folder)
    const refreshed = refreshedTables(migrations.flatMap(({ statements }) => statements))
    const target = { topology, isReplicated: engine === 'Replicated' }
    const made = await tableEngine(server, { database, table: 'schema_migrations' })
    if (made !== null && topologyOf(made) !== topology)
      throw new MigrationError(
        `the database ${database} was made for CLICKHOUSE_TOPOLOGY=${topologyOf(made)}, not ${topology}: set that, or use another CLICKHOUSE_DATABASE`,
      )
    await run(clickhouse, 'create schema_migrations', rendered(BOOKKEEPING, target, refreshed))
    const applied = await appliedByVersion(clickhouse)
    const [first] = migrations
    if (applied.size > 0 && applied.get(1)?.name !== first?.name)
      throw new MigrationError(
        `the database ${database} was made by a build before 0.1.0, and its schema cannot be upgraded: set CLICKHOUSE_DATABASE to a new name, run npm run migrate, and read the chain again (npm run ingest, npm run backfill)`,
      )
    const known = new Set(migrations.map(({ version }) => version))
    for (const { version, name } of applied.values()) {
      if (!known.has(version))
        throw new MigrationError(
          `the database has migration ${name}, which this version does not know: use a newer Plumbline`,
        )
    }
    const done: string[] = []
    for (const { version, name, checksum, statements } of migrations) {
      const before = applied.get(version)
      if (before && before.checksum !== checksum)
        throw new MigrationError(`${name} was changed after it had been applied`)
      if (before) continue
      if ((await appliedByVersion(clickhouse)).has(version)) continue
      try {
        for (const statement of statements) await run(clickhouse, name, rendered(statement, target, refreshed))
      } catch (error) {
        if (await isAppliedSoon(clickhouse, version)) continue
        throw error
      }
      await insertRows(clickhouse, 'schema_migrations', [{ version, name, checksum }], `${version}:${checksum}`)
      done.push(name)
    }
    await applyRetention(clickhouse, env)
    return done
  } finally {
    await Promise.all([server.close(), clickhouse.close()])
  }
}

/** The number of the newest applied migration; 0 for none. Rejects if the table of migrations does not exist. */
export const schemaVersion = defineRow({
  name: 'schema_version',
  row: onlyColumn('version', z.int()),
  sql: 'SELECT max(version) AS version FROM schema_migrations',
})
