import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { factTables } from '../facts/facts.js'
import { defineQuery, onlyColumn } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'

/** The names of the databases of a server, without its own. */
export const databases = defineQuery({
  name: 'databases',
  row: onlyColumn('name', z.string()),
  sql: `SELECT name FROM system.databases WHERE lower(name) NOT IN ('system', 'information_schema') ORDER BY name`,
})

const Mark = z.object({
  source_database: z.string(),
  name: z.string(),
  engine_name: z.string(),
  condition: z.string(),
  is_checked: z.boolean(),
  rows: z.string(),
  checksum: z.string(),
})

/**
 * What a table or view held when a backup of it began. `condition` picks the rows that count, an empty one all of them;
 * `is_checked` is false for what has no rows of its own, for what is computed anew, and for what only says how it is now.
 */
export type Mark = z.infer<typeof Mark>

/** The temporary table that lies in the backup, and nowhere else. Its engine is not Memory, which no tar gives back. */
export const MANIFEST = 'plumbline_manifest'

const CREATE_MANIFEST = `
  CREATE TEMPORARY TABLE ${MANIFEST}
  (
      source_database String, name String, engine_name String, condition String, is_checked Bool,
      rows UInt64, checksum UInt64 COMMENT 'sum of the hashes of the rows'
  )
  ENGINE = MergeTree ORDER BY name`

/** The marks in the session of `clickhouse`, by name. */
export const readManifest = defineQuery({
  name: 'backup_manifest',
  row: Mark,
  sql: `SELECT * FROM ${MANIFEST} ORDER BY name`,
})

const Table = z.object({
  name: z.string(),
  engine_name: z.string(),
  definition: z.string(),
})
type Table = z.infer<typeof Table>

/** Tables and views of the database. What is called .inner or .tmp belongs to a view and is restored under another name. */
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
 * Reads all of a database's rows to say what is in it. Where ingest keeps its ledger, only what is committed counts, so
 * that it may go on writing while the backup is taken.
 */
export async function takeMarks(clickhouse: ClickHouseClient, database: string): Promise<Mark[]> {
  const tables = await tablesOf(clickhouse, { database })
  const hasLedger = tables.some(({ name }) => name === 'ingest_rollbacks')
  const committed = hasLedger ? await lastCommitted(clickhouse, database) : null
  const marks: Mark[] = []
  for (const { name, engine_name } of tables) {
    const target = { source_database: database, name, engine_name }
    const condition = committed === null || !hasRows(engine_name) ? '' : conditionOf(name, committed)
    const isLasting = !hasLedger || !HEARTBEATS.includes(name)
    const is_checked = hasRows(engine_name) && isLasting && !tables.some((view) => fills(view, name, hasLedger))
    marks.push({
      ...target,
      condition,
      is_checked,
      ...(await markRows(clickhouse, { ...target, condition }, database)),
    })
  }
  return marks
}

const hasRows = (engine: string) => /MergeTree$|^(Memory|(Tiny|Stripe)?Log)$/.test(engine)

/** Merges of these engines change the rows, but not what FINAL makes of them. */
const isMerged = (engine: string) => hasRows(engine) && /.MergeTree$/.test(engine.replace(/^(Replicated|Shared)/, ''))

/** Tables whose rows give way to newer ones every few seconds: who looks at them wants to know how it is now. */
const HEARTBEATS: readonly string[] = ['chain_heads', 'job_leases']

/** The last block that is committed and not rolled back, -1 when there is none, and the tip's newest batch that a rollback met. */
type Committed = { last: string; after_sequence: string }

const conditionOf = (name: string, { last, after_sequence }: Committed): string => {
  // Of what a rollback met, blocks may be left, though the batch ends after the last one.
  if (name === 'ingest_batches') return `to_block <= ${last} OR track = 'tip' AND sequence_number <= ${after_sequence}`
  return (factTables as readonly string[]).includes(name) ? `block_number <= ${last}` : ''
}

/**
 * Whether a table tells of the blocks that were in when a backup began. The tip does not write to what counts of it:
 * a backfill does, and a rollback.
 */
export const isBehindTip = ({ name, condition }: Pick<Mark, 'name' | 'condition'>): boolean =>
  condition !== '' || name === 'ingest_rollbacks' || name === 'ingest_gaps'

/** Whether `view` fills the table `name` by itself: at any time where it is refreshed, behind the ledger's back else. */
function fills({ engine_name, definition }: Table, name: string, hasLedger: boolean): boolean {
  if (engine_name !== 'MaterializedView' || !(hasLedger || / REFRESH /.test(definition))) return false
  return / TO (?:`[^`]+`|\w+)\.(?:`([^`]+)`|(\w+))/.exec(definition)?.slice(1).includes(name) === true
}

/** A name for SQL. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``

/** A table by its full name, for SQL. */
export const tableName = (database: string, name: string): string => `${quoteName(database)}.${quoteName(name)}`

const Rows = z.array(z.object({ rows: z.string(), checksum: z.string() })).length(1)

/** The rows of a mark, counted and added up in `database`. A repeat gives the same, whatever was merged in between. */
export async function markRows(
  clickhouse: ClickHouseClient,
  { name, engine_name, condition }: Pick<Mark, 'name' | 'engine_name' | 'condition'>,
  database: string,
): Promise<{ rows: string; checksum: string }> {
  if (!hasRows(engine_name)) return { rows: '0', checksum: '0' }
  const final = isMerged(engine_name) ? 'FINAL' : ''
  const where = condition === '' ? '' : `WHERE ${condition}`
  // Within a tuple, as the hash of a bare NULL is NULL.
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
  // A rollback keeps at least one block, or else none is left.
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

/** Keeps the marks in the session of `clickhouse`, for a backup to take along. */
export async function storeManifest(clickhouse: ClickHouseClient, marks: Mark[]): Promise<void> {
  try {
    await clickhouse.command({ query: CREATE_MANIFEST })
    const clickhouse_settings = { log_comment: `insert_${MANIFEST}` }
    await clickhouse.insert({ table: MANIFEST, values: marks, format: 'JSONEachRow', clickhouse_settings })
  } catch (cause) {
    throw new QueryError('write the manifest', cause)
  }
}
