import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import pRetry from 'p-retry'
import { z } from 'zod'
import { repairViews } from '../../clickhouse/facts/repair-views.js'
import { type ClickHouseEnv, connect } from '../../clickhouse/store/client.js'
import { defineQuery } from '../../clickhouse/store/define-query.js'
import { QueryError } from '../../clickhouse/store/query-error.js'
import { PlumblineError } from '../../process/errors.js'
import { countRows, databases, MANIFEST, type ManifestEntry, quoteName, readManifest, tableName } from './manifest.js'
import { type BackupEnv, BackupError, backupLocation, runOperation } from './operation.js'

const mutatedPartitions = defineQuery({
  name: 'mutated_partitions',
  params: z.object({ database: z.string() }),
  row: z.object({ name: z.string(), partition_id: z.string() }),
  sql: `
    SELECT DISTINCT table AS name, partition_id FROM system.parts
    WHERE database = {database: String} AND active AND data_version > max_block_number AND NOT startsWith(table, '.')
    ORDER BY name, partition_id`,
})

/**
 * Makes DELETE work on the parts of a restored database. A part keeps the number of the last mutation that it has seen,
 * but RESTORE resets the table's count, so until that reaches the part's number, DELETE silently ignores the part.
 * Replacing a partition by itself renumbers its parts without copying data. Rejects with QueryError.
 */
async function resetMutationNumbers(clickhouse: ClickHouseClient, database: string): Promise<void> {
  for (const { name, partition_id } of await mutatedPartitions(clickhouse, { database })) {
    const table = tableName(database, name)
    const query = `ALTER TABLE ${table} REPLACE PARTITION ID {partition_id: String} FROM ${table}`
    await clickhouse.command({ query, query_params: { partition_id } }).catch((cause) => {
      throw new QueryError(query, cause)
    })
  }
}

const DAY_MS = 86_400_000

type Restored = ManifestEntry & {
  /** How many rows were removed because their batch was not committed when the backup began. */
  dropped: string
  restored: { rows: string; checksum: string }
  /** Whether the checked rows are the same as when the backup began. */
  isSame: boolean
}

/**
 * Restores the backup `from` to the database `as`, which must not exist; by default to one with its original name.
 * Removes rows that ingest had not committed when the backup began, so that it can continue from there. Resolves to
 * each table, compared with its state then. Rejects with BackupError or QueryError.
 */
export async function restore(
  env: BackupEnv,
  { from, as }: { from: string; as?: string | undefined },
): Promise<{ database: string; tables: Restored[] }> {
  if ((env.CLICKHOUSE_TOPOLOGY ?? 'single') !== 'single')
    throw new BackupError('a restore makes a database on a single server: restore replicas with RESTORE … ON CLUSTER')
  const options = { application: 'plumbline-restore', requestTimeoutMs: DAY_MS }
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, options)
  const session = connect(
    { ...env, CLICKHOUSE_DATABASE: 'default' },
    { ...options, maxOpenConnections: 1, sessionId: randomUUID() },
  )
  try {
    const entries = await manifestOf(env, session, from)
    const source = (entries[0] as ManifestEntry).source_database
    const database = as ?? source
    if ((await databases(server)).includes(database)) {
      throw new BackupError(`the database ${database} already exists: choose another name with --as`)
    }
    // Created here rather than by RESTORE, so that this fails if the database exists by now, and to allow another engine.
    await run(server, `CREATE DATABASE ${quoteName(database)}`)
    await runOperation(
      server,
      `RESTORE DATABASE ${quoteName(source)} AS ${quoteName(database)} FROM ${backupLocation(env, from)} SETTINGS allow_different_database_def = 1`,
    )
    await resetMutationNumbers(server, database)
    const dropped = new Map<string, string>()
    for (const entry of entries) dropped.set(entry.name, await dropUncommitted(server, entry, database))
    if (entries.some(({ name }) => name === 'peg_minutes'))
      await settleRestoredViews({ ...env, CLICKHOUSE_DATABASE: database })
    const tables: Restored[] = []
    for (const entry of entries) {
      const restored = await countRows(server, entry, database)
      const isSame = !entry.is_checked || (restored.rows === entry.rows && restored.checksum === entry.checksum)
      tables.push({ ...entry, dropped: dropped.get(entry.name) as string, restored, isSame })
    }
    return { database, tables }
  } finally {
    await Promise.all([server.close(), session.close()])
  }
}

async function manifestOf(env: BackupEnv, session: ClickHouseClient, from: string): Promise<ManifestEntry[]> {
  try {
    await runOperation(session, `RESTORE TEMPORARY TABLE ${MANIFEST} FROM ${backupLocation(env, from)}`)
  } catch (error) {
    if (error instanceof BackupError && error.message.includes(MANIFEST)) {
      throw new BackupError(`${from} was not taken by npm run backup: restore it with SQL`)
    }
    throw error
  }
  const entries = await readManifest(session)
  if (entries.length === 0) throw new BackupError(`the database in ${from} was empty`)
  return entries
}

/** Makes the restored views agree with the facts. Retries, because a view may be refreshed as soon as it exists. */
async function settleRestoredViews(env: ClickHouseEnv): Promise<void> {
  const clickhouse = connect(env, { application: 'plumbline-restore', requestTimeoutMs: DAY_MS })
  try {
    await pRetry(() => repairViews(clickhouse), {
      retries: 60,
      minTimeout: 200,
      maxTimeout: 2000,
      shouldRetry: ({ error }) => error instanceof PlumblineError && error.retryable,
    })
  } finally {
    await clickhouse.close()
  }
}

/** Deletes the rows that do not meet the entry's condition and resolves to their number. */
async function dropUncommitted(clickhouse: ClickHouseClient, entry: ManifestEntry, database: string): Promise<string> {
  if (entry.condition === '') return '0'
  const condition = `NOT (${entry.condition})`
  const { rows } = await countRows(clickhouse, { ...entry, condition }, database)
  if (rows !== '0') await run(clickhouse, `DELETE FROM ${tableName(database, entry.name)} WHERE ${condition}`)
  return rows
}

async function run(clickhouse: ClickHouseClient, query: string): Promise<void> {
  try {
    await clickhouse.command({ query })
  } catch (cause) {
    throw new QueryError(query, cause)
  }
}
