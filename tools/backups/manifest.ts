import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, onlyColumn } from '../../clickhouse/store/define-query.js'
import { QueryError } from '../../clickhouse/store/query-error.js'
import { traitsOf } from '../../clickhouse/tables.js'

/** The names of a server's databases, without its system databases. */
export const databases = defineQuery({
  name: 'databases',
  row: onlyColumn('name', z.string()),
  sql: `SELECT name FROM system.databases WHERE lower(name) NOT IN ('system', 'information_schema') ORDER BY name`,
})

const ManifestEntry = z.object({
  source_database: z.string(),
  name: z.string(),
  engine_name: z.string(),
  condition: z.string(),
  is_checked: z.boolean(),
  rows: z.string(),
  checksum: z.string(),
})

/**
 * The row count and checksum of a table or view when a backup began. Only rows that meet `condition` count; an empty
 * one means all rows. `is_checked` is false for views, for tables that are filled by a view, and for tables that only
 * hold the current state.
 */
export type ManifestEntry = z.infer<typeof ManifestEntry>

/**
 * The temporary table with the entries, which is stored only in the backup. Memory tables cannot be restored from a tar.
 */
export const MANIFEST = 'plumbline_manifest'

const CREATE_MANIFEST = `
  CREATE TEMPORARY TABLE ${MANIFEST}
  (
      source_database String, name String, engine_name String, condition String, is_checked Bool,
      rows UInt64, checksum UInt64 COMMENT 'sum of the hashes of the rows'
  )
  ENGINE = MergeTree ORDER BY name`

/** The entries in the temporary table of the session, ordered by name. */
export const readManifest = defineQuery({
  name: 'backup_manifest',
  row: ManifestEntry,
  sql: `SELECT * FROM ${MANIFEST} ORDER BY name`,
})

const Table = z.object({
  name: z.string(),
  engine_name: z.string(),
  definition: z.string(),
})
type Table = z.infer<typeof Table>

/** Tables and views of the database. Tables named .inner or .tmp belong to a view and are restored under another name. */
const tablesOf = defineQuery({
  name: 'backup_tables',
  params: z.object({ database: z.string() }),
  row: Table,
  sql: `
    SELECT name, engine AS engine_name, create_table_query AS definition
    FROM system.tables
    WHERE database = {database: String} AND name NOT LIKE '.inner%' AND name NOT LIKE '.tmp%' AND NOT is_temporary
    ORDER BY name`,
})

/**
 * Counts and hashes all rows of a database. If it has the ledger of ingest, only committed rows count, so that ingest may
 * continue to write during the backup.
 */
export async function describeTables(clickhouse: ClickHouseClient, database: string): Promise<ManifestEntry[]> {
  const tables = await tablesOf(clickhouse, { database })
  const hasLedger = tables.some(({ name }) => name === 'ingest_rollbacks')
  const committed = hasLedger ? await lastCommitted(clickhouse, database) : null
  const entries: ManifestEntry[] = []
  for (const { name, engine_name } of tables) {
    const target = { source_database: database, name, engine_name }
    const condition = committed === null || !hasRows(engine_name) ? '' : conditionOf(name, committed)
    const isLasting = !hasLedger || traitsOf(name)?.holds !== 'state'
    const is_checked = hasRows(engine_name) && isLasting && !tables.some((view) => fills(view, name, hasLedger))
    entries.push({
      ...target,
      condition,
      is_checked,
      ...(await countRows(clickhouse, { ...target, condition }, database)),
    })
  }
  return entries
}

const hasRows = (engine: string) => /MergeTree$|^(Memory|(Tiny|Stripe)?Log)$/.test(engine)

/** Whether merges change the rows of a table with this engine without changing the result of reading it with FINAL. */
const isMerged = (engine: string) => hasRows(engine) && /.MergeTree$/.test(engine.replace(/^(Replicated|Shared)/, ''))

/**
 * The last block that is committed and not rolled back (-1 if there is none), and the tip's newest batch at the last
 * rollback.
 */
type Committed = { last: string; after_sequence: string }

const conditionOf = (name: string, { last, after_sequence }: Committed): string => {
  // A batch from before a rollback may end after the last block and still have blocks that were kept.
  if (name === 'ingest_batches') return `to_block <= ${last} OR track = 'tip' AND sequence_number <= ${after_sequence}`
  return traitsOf(name)?.holds === 'facts' ? `block_number <= ${last}` : ''
}

/**
 * Whether a table describes blocks that were committed when the backup began. New blocks never change the counted rows of
 * such a table; only a backfill or a rollback does.
 */
export const describesCommittedBlocks = ({ name, condition }: Pick<ManifestEntry, 'name' | 'condition'>): boolean =>
  condition !== '' || traitsOf(name)?.holds === 'ledger'

/** Whether `view` fills the table `name` without the ledger recording it: a refreshable view does so at any time. */
function fills({ engine_name, definition }: Table, name: string, hasLedger: boolean): boolean {
  if (engine_name !== 'MaterializedView' || !(hasLedger || / REFRESH /.test(definition))) return false
  return / TO (?:`[^`]+`|\w+)\.(?:`([^`]+)`|(\w+))/.exec(definition)?.slice(1).includes(name) === true
}

/** Quotes a name for SQL. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``

/** The full name of a table, quoted for SQL. */
export const tableName = (database: string, name: string): string => `${quoteName(database)}.${quoteName(name)}`

const Rows = z.array(z.object({ rows: z.string(), checksum: z.string() })).length(1)

/** The number and checksum of an entry's rows, counted in `database`. Merges do not change the result. */
export async function countRows(
  clickhouse: ClickHouseClient,
  { name, engine_name, condition }: Pick<ManifestEntry, 'name' | 'engine_name' | 'condition'>,
  database: string,
): Promise<{ rows: string; checksum: string }> {
  if (!hasRows(engine_name)) return { rows: '0', checksum: '0' }
  const final = isMerged(engine_name) ? 'FINAL' : ''
  const where = condition === '' ? '' : `WHERE ${condition}`
  // As a tuple, because the hash of a single NULL would be NULL.
  const query = `SELECT count() AS rows, sum(cityHash64(tuple(*))) AS checksum FROM ${tableName(database, name)} ${final} ${where}`
  try {
    const result = await clickhouse.query({ query, format: 'JSONEachRow' })
    return Rows.parse(await result.json())[0] as z.infer<typeof Rows>[number]
  } catch (cause) {
    throw new QueryError(`read ${name}`, cause)
  }
}

async function lastCommitted(clickhouse: ClickHouseClient, database: string): Promise<Committed> {
  const [batches, rollbacks] = ['ingest_batches', 'ingest_rollbacks'].map((name) => tableName(database, name))
  // A rollback keeps at least one block; otherwise no block is left.
  const query = `
    WITH (SELECT (max(after_sequence), argMax(kept_block, sequence_number)) FROM ${rollbacks}) AS rollback
    SELECT if(greatest(newest, rollback.2) = 0, -1, toInt64(greatest(newest, rollback.2))) AS last, rollback.1 AS after_sequence
    FROM (SELECT maxIf(to_block, track != 'tip' OR sequence_number > rollback.1) AS newest FROM ${batches} WHERE state = 'committed')`
  try {
    const result = await clickhouse.query({ query, format: 'JSONEachRow' })
    return z.tuple([z.object({ last: z.string(), after_sequence: z.string() })]).parse(await result.json())[0]
  } catch (cause) {
    throw new QueryError('read the ledger', cause)
  }
}

/** Stores the entries in a temporary table of the session, from which the backup copies them. */
export async function storeManifest(clickhouse: ClickHouseClient, entries: ManifestEntry[]): Promise<void> {
  try {
    await clickhouse.command({ query: CREATE_MANIFEST })
    const clickhouse_settings = { log_comment: `insert_${MANIFEST}` }
    await clickhouse.insert({ table: MANIFEST, values: entries, format: 'JSONEachRow', clickhouse_settings })
  } catch (cause) {
    throw new QueryError('write the manifest', cause)
  }
}
