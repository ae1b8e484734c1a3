import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import pRetry from 'p-retry'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { settleViews } from '../rebuild/settle-views.js'
import { type ClickHouseEnv, connect } from '../store/client.js'
import { defineQuery } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'
import { databases, MANIFEST, type Mark, markRows, quoteName, readManifest, tableName } from './manifest.js'
import { BackupError, backupFile, runOperation } from './operation.js'

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
 * Has the parts of a database that was just restored take part in deletions again. A part keeps the number of the last
 * mutation that it has seen, while RESTORE lets the table begin to count anew: until it comes to that number, DELETE
 * leaves the part as it is, without a word. A partition that is replaced by itself is numbered anew, and nothing is
 * copied. Rejects with QueryError.
 */
async function forgetMutations(clickhouse: ClickHouseClient, database: string): Promise<void> {
  for (const { name, partition_id } of await mutatedPartitions(clickhouse, { database })) {
    const table = tableName(database, name)
    const query = `ALTER TABLE ${table} REPLACE PARTITION ID {partition_id: String} FROM ${table}`
    await clickhouse.command({ query, query_params: { partition_id } }).catch((cause) => {
      throw new QueryError(query, cause)
    })
  }
}

const DAY_MS = 86_400_000

type Restored = Mark & {
  /** Of what the backup holds of a batch that was not committed when it began. */
  dropped: string
  found: { rows: string; checksum: string }
  isRight: boolean
}

/**
 * Restores the backup `from` into the database `as`, which must not exist, by default one of the name it had. What ingest
 * had not committed when the backup began is taken out again, so that it can go on from there. Resolves to what is there,
 * table by table, compared with what there was. Rejects with BackupError or QueryError.
 */
export async function restore(
  env: ClickHouseEnv,
  { from, as }: { from: string; as?: string | undefined },
): Promise<{ database: string; tables: Restored[] }> {
  const options = { application: 'plumbline-restore', requestTimeoutMs: DAY_MS }
  const server = connect({ ...env, CLICKHOUSE_DATABASE: 'default' }, options)
  const session = connect(
    { ...env, CLICKHOUSE_DATABASE: 'default' },
    { ...options, maxOpenConnections: 1, sessionId: randomUUID() },
  )
  try {
    const marks = await manifestOf(session, from)
    const source = (marks[0] as Mark).source_database
    const database = as ?? source
    if ((await databases(server)).includes(database)) {
      throw new BackupError(`there is a database ${database} already: name another with --as`)
    }
    // Created here, not by RESTORE: that fails when somebody else was faster, and a database may be of another engine.
    await run(server, `CREATE DATABASE ${quoteName(database)}`)
    await runOperation(
      server,
      `RESTORE DATABASE ${quoteName(source)} AS ${quoteName(database)} FROM ${backupFile(from)} SETTINGS allow_different_database_def = 1`,
    )
    await forgetMutations(server, database)
    const dropped = new Map<string, string>()
    for (const mark of marks) dropped.set(mark.name, await dropUncommitted(server, mark, database))
    if (marks.some(({ name }) => name === 'peg_minutes')) await settle({ ...env, CLICKHOUSE_DATABASE: database })
    const tables: Restored[] = []
    for (const mark of marks) {
      const found = await markRows(server, mark, database)
      const isRight = !mark.is_checked || (found.rows === mark.rows && found.checksum === mark.checksum)
      tables.push({ ...mark, dropped: dropped.get(mark.name) as string, found, isRight })
    }
    return { database, tables }
  } finally {
    await Promise.all([server.close(), session.close()])
  }
}

async function manifestOf(session: ClickHouseClient, from: string): Promise<Mark[]> {
  try {
    await runOperation(session, `RESTORE TEMPORARY TABLE ${MANIFEST} FROM ${backupFile(from)}`)
  } catch (error) {
    if (error instanceof BackupError && error.message.includes(MANIFEST)) {
      throw new BackupError(`${from} was not made by npm run backup: restore it with SQL`)
    }
    throw error
  }
  const marks = await readManifest(session)
  if (marks.length === 0) throw new BackupError(`the database in ${from} was empty`)
  return marks
}

/** Makes the restored views agree with the restored facts. A view may be refreshed as soon as it is there. */
async function settle(env: ClickHouseEnv): Promise<void> {
  const clickhouse = connect(env, { application: 'plumbline-restore', requestTimeoutMs: DAY_MS })
  try {
    await pRetry(() => settleViews(clickhouse), {
      retries: 60,
      minTimeout: 200,
      maxTimeout: 2000,
      shouldRetry: ({ error }) => error instanceof PlumblineError && error.retryable,
    })
  } finally {
    await clickhouse.close()
  }
}

/** Deletes the rows that do not meet the mark's condition; resolves to how many there were. */
async function dropUncommitted(clickhouse: ClickHouseClient, mark: Mark, database: string): Promise<string> {
  if (mark.condition === '') return '0'
  const condition = `NOT (${mark.condition})`
  const { rows } = await markRows(clickhouse, { ...mark, condition }, database)
  if (rows !== '0') await run(clickhouse, `DELETE FROM ${tableName(database, mark.name)} WHERE ${condition}`)
  return rows
}

async function run(clickhouse: ClickHouseClient, query: string): Promise<void> {
  try {
    await clickhouse.command({ query })
  } catch (cause) {
    throw new QueryError(query, cause)
  }
}
