import { setMaxListeners } from 'node:events'
import type { ClickHouseClient } from '@clickhouse/client'
import { PlumblineError } from '../../process/errors.js'
import { type Latest, Memories } from '../../process/memory.js'
import { QueryError } from './query-error.js'

/** How ClickHouse runs: one server, replicas that copy each other's rows after a while, or ClickHouse Cloud. */
export const TOPOLOGIES = ['single', 'replicated', 'cloud'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/**
 * What the reads of a client must see: `current` all that was stored before they began, through any replica; otherwise so
 * of the tables in `currentOnly` alone, and of others what its replica has by then.
 */
export type Reads = 'current' | { currentOnly: ReadonlySet<string> }

/** The replicated tables of a database, those behind each plain view, and the cluster of all replicas if it has a name. */
type Schema = {
  replicated: ReadonlySet<string>
  views: ReadonlyMap<string, readonly string[]>
  cluster: string | null
  /** The tables of each statement so far. */
  tablesOf: Map<string, string[]>
}

/** How long a server waits for what its replica lacks. In seconds. */
const SYNC_SECONDS = 30

/** Tables that are waited for at once. Each takes a connection from the reads while a replica lags. */
const SYNCS_AT_ONCE = 2

/** How long a schema is believed: it may have been read in the middle of a migration. In milliseconds. */
const SCHEMA_MS = 60_000

type Replicas = {
  topology: Topology
  reads: Reads
  memories: Memories
  schema: Latest<Schema>
}

const replicasOf = new WeakMap<ClickHouseClient, Replicas>()

/** Says what the reads of a client must see; without it, its server is the only one. */
export function knowReplicas(clickhouse: ClickHouseClient, topology: Topology, reads: Reads): void {
  if (topology === 'single') return
  const memories = new Memories()
  const schema = memories.latest({
    name: 'schema',
    holds: 'which tables are replicated, and which of them a statement reads',
    until: '60 s',
    read: () => readSchema(clickhouse, topology),
  })
  replicasOf.set(clickhouse, { topology, reads, memories, schema })
}

/** The memories of a client. */
export const memoriesOf = (clickhouse: ClickHouseClient): Memories =>
  replicasOf.get(clickhouse)?.memories ?? new Memories()

/** Whether all statements of a client are answered by one server, or by servers that are found out if they are several. */
export const seesOneServer = (clickhouse: ClickHouseClient): boolean => replicasOf.get(clickhouse)?.topology !== 'cloud'

const wordsOf = (sql: string): Set<string> => new Set(sql.match(/[a-z_][a-z0-9_]*/g))

async function readSchema(clickhouse: ClickHouseClient, topology: Topology): Promise<Schema> {
  const query = `
    SELECT name, engine, as_select, (SELECT engine FROM system.databases WHERE name = currentDatabase()) AS kind, currentDatabase() AS database
    FROM system.tables WHERE database = currentDatabase()`
  const result = await clickhouse.query({ query, format: 'JSONEachRow' })
  const rows = await result.json<{ name: string; engine: string; as_select: string; kind: string; database: string }>()
  const [first] = rows
  return {
    replicated: new Set(rows.filter(({ engine }) => engine.startsWith('Replicated')).map(({ name }) => name)),
    views: new Map(
      rows.filter(({ engine }) => engine === 'View').map(({ name, as_select }) => [name, [...wordsOf(as_select)]]),
    ),
    cluster: topology === 'cloud' ? 'default' : first?.kind === 'Replicated' ? first.database : null,
    tablesOf: new Map(),
  }
}

/** The replicated tables that a statement may read: those whose names occur in it, or in the views that it names. */
function tablesIn(sql: string, { replicated, views }: Schema): string[] {
  const found = new Set<string>()
  const follow = (words: Iterable<string>, above: readonly string[]): void => {
    for (const word of words) {
      if (replicated.has(word)) found.add(word)
      else if (!above.includes(word)) follow(views.get(word) ?? [], [...above, word])
    }
  }
  follow(wordsOf(sql), [])
  return [...found].sort()
}

/** A process reads from several servers in turns, so that waiting for one says nothing about another. */
class SeveralServersError extends PlumblineError {
  constructor(one: string, other: string) {
    super(
      `the address of ClickHouse leads to several servers (${one}, ${other}): give each process the address of one replica`,
      { retryable: true },
    )
  }
}

const schemaOf = ({ schema }: Replicas): Promise<Schema> => schema.get((_, ageMs) => ageMs < SCHEMA_MS)

type Headers = Readonly<Record<string, unknown>>

/** The server that gave an answer, by the name that it is shown under; null if it does not say. */
const serverOf = (headers: Headers): string | null => {
  const name = headers['x-clickhouse-server-display-name']
  return typeof name === 'string' ? name : null
}

/** Throws SeveralServersError if an answer is of another server than `server`, where both are known. */
export function checkServer(server: string | null, headers: Headers): void {
  const other = serverOf(headers)
  if (server !== null && other !== null && server !== other) throw new SeveralServersError(server, other)
}

/**
 * Waits until the replica of a client has all rows of these tables that were stored anywhere before; resolves to its name.
 * Merges and mutations are not waited for.
 */
async function sync(
  clickhouse: ClickHouseClient,
  tables: readonly string[],
  signal?: AbortSignal,
): Promise<string | null> {
  const all = signal && AbortSignal.any([signal])
  // Each statement listens to it.
  if (all) setMaxListeners(0, all)
  const queue = tables.values()
  let server: string | null = null
  const work = async (): Promise<void> => {
    for (const table of queue) {
      const { response_headers } = await clickhouse.command({
        query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT`,
        // The server must not wait for long after nobody does any more.
        clickhouse_settings: { log_comment: 'sync_replica', receive_timeout: SYNC_SECONDS },
        ...(all && { abort_signal: all }),
      })
      checkServer(server, response_headers)
      server ??= serverOf(response_headers)
    }
  }
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, work))
  return server
}

const failed = (cause: unknown): PlumblineError =>
  cause instanceof PlumblineError ? cause : new QueryError('sync the replica', cause)

/**
 * Makes a read see what the client's reads must see, unless it `mayLag`, and resolves to the statement to send (on a
 * cluster, one that looks at all servers' queries and refreshes) and to the server that has to answer it. Rejects with
 * QueryError, for one if a replica that has rows does not answer.
 */
export async function prepareRead(
  clickhouse: ClickHouseClient,
  sql: string,
  { signal, mayLag = false }: { signal?: AbortSignal | undefined; mayLag?: boolean } = {},
): Promise<{ query: string; server: string | null }> {
  const replicas = replicasOf.get(clickhouse)
  if (!replicas) return { query: sql, server: null }
  try {
    const schema = await schemaOf(replicas)
    const tables = schema.tablesOf.get(sql) ?? tablesIn(sql, schema)
    schema.tablesOf.set(sql, tables)
    const mustBeCurrent = (table: string): boolean =>
      !mayLag && (replicas.reads === 'current' || replicas.reads.currentOnly.has(table))
    const server =
      replicas.topology === 'replicated' ? await sync(clickhouse, tables.filter(mustBeCurrent), signal) : null
    return { query: schema.cluster === null ? sql : systemReadsOnAllServers(sql, schema.cluster), server }
  } catch (cause) {
    throw failed(cause)
  }
}

/** Reads of what each server only knows of itself, from all servers of a cluster. */
export const systemReadsOnAllServers = (sql: string, cluster: string): string =>
  sql.replaceAll(/\bsystem\.(processes|view_refreshes)\b/g, `clusterAllReplicas('${cluster}', system.$1)`)

/**
 * Waits until the replica of a client has all rows of all tables that were stored anywhere before. What a ledger that was
 * read before says is stored, is there afterwards. Rejects with QueryError.
 */
export async function catchUp(clickhouse: ClickHouseClient, signal?: AbortSignal): Promise<void> {
  const replicas = replicasOf.get(clickhouse)
  if (replicas?.topology !== 'replicated') return
  try {
    const { replicated } = await schemaOf(replicas)
    await sync(clickhouse, [...replicated], signal)
  } catch (cause) {
    throw failed(cause)
  }
}

/**
 * The same, as long as the server waits; resolves to whether the replica has them. Rejects only if it `mayLack` none of them.
 */
export const hasCaughtUp = (clickhouse: ClickHouseClient, mayLack: boolean): Promise<boolean> =>
  catchUp(clickhouse).then(
    () => true,
    (error) => {
      if (!mayLack) throw error
      return false
    },
  )
