import type { Topology } from '../store/replicas.js'

/** How long a replicated table remembers the tokens of its inserts, in seconds: a repeat after a week is checked row by row. */
const TOKENS_SECONDS = 7 * 86_400

/** Where statements run. `isReplicated`: the database itself copies its tables to all replicas (the engine Replicated). */
export type Target = { topology: Topology; isReplicated: boolean }

/**
 * A statement of a migration as this topology needs it: tables that are replicated, with their windows of tokens.
 * ClickHouse Cloud replicates every MergeTree by itself. Outside of a Replicated database, where replicas refresh a view
 * each by themselves, its target (`refreshed`) is not replicated, and a table's path in the Keeper has its name.
 */
export function rendered(
  statement: string,
  { topology, isReplicated }: Target,
  refreshed: ReadonlySet<string>,
): string {
  if (topology === 'single') return statement
  const [, table] = /\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/.exec(statement) ?? []
  if (table !== undefined && !isReplicated && topology === 'replicated' && refreshed.has(table)) return statement
  const path =
    isReplicated || table === undefined ? '' : `'/clickhouse/tables/{database}/{shard}/${table}', '{replica}'`
  return statement
    .replaceAll(
      /\bnon_replicated_deduplication_window = (\d+)/g,
      `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${TOKENS_SECONDS}`,
    )
    .replaceAll(/\bENGINE = (\w*MergeTree)\b(?:\(([^)]*)\))?/g, (whole, engine: string, args: string | undefined) =>
      topology === 'cloud' ? whole : `ENGINE = Replicated${engine}(${[path, args].filter(Boolean).join(', ')})`,
    )
}

/** The targets of the refreshable views that statements create. */
export const refreshedTables = (statements: readonly string[]): ReadonlySet<string> =>
  new Set(
    statements.flatMap((statement) => {
      const [, table] = /\bREFRESH (?:EVERY|AFTER)\b[^;]*?\bTO (\w+)/.exec(statement) ?? []
      return table === undefined ? [] : [table]
    }),
  )

/** The statement that creates the database. */
export const createDatabase = (name: string, topology: Topology): string =>
  topology === 'replicated'
    ? `CREATE DATABASE IF NOT EXISTS ${name} ENGINE = Replicated('/clickhouse/databases/${name}', '{shard}', '{replica}')`
    : `CREATE DATABASE IF NOT EXISTS ${name}`
