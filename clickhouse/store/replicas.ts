import { setMaxListeners } from 'node:events'
import type { ClickHouseClient } from '@clickhouse/client'
import { QueryError } from './query-error.js'

/** How ClickHouse runs: one server, replicas that copy each other's rows after a while, or ClickHouse Cloud. */
export const TOPOLOGIES = ['single', 'replicated', 'cloud'] as const
export type Topology = (typeof TOPOLOGIES)[number]

/**
 * What the reads of a client must see: `current` all that was stored before they began, through any replica; `lagging`
 * what its replica has by then.
 */
export type Reads = 'current' | 'lagging'

/**
 * Tables that are read in full by lagging clients too: a reader of numbered rows would pass over a row that arrives late,
 * and who changes a key or a subscription reads it back.
 */
const ALWAYS_CURRENT: ReadonlySet<string> = new Set([
  'api_keys',
  'events',
  'payments',
  'webhook_attempts',
  'webhook_deliveries',
  'webhook_fan_outs',
  'webhook_subscriptions',
])

/** The replicated tables of a database, those behind each plain view, and the cluster of all replicas if it has a name. */
type Schema = {
  replicated: ReadonlySet<string>
  views: ReadonlyMap<string, readonly string[]>
  cluster: string | null
}

type Replicas = { topology: Topology; reads: Reads; schema: Promise<Schema> | null; tablesOf: Map<string, string[]> }

const known = new WeakMap<ClickHouseClient, Replicas>()

/** Says what the reads of a client must see; without it, its server is the only one. */
export function knowReplicas(clickhouse: ClickHouseClient, topology: Topology, reads: Reads): void {
  if (topology !== 'single') known.set(clickhouse, { topology, reads, schema: null, tablesOf: new Map() })
}

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

function schemaOf(clickhouse: ClickHouseClient, replicas: Replicas): Promise<Schema> {
  replicas.schema ??= readSchema(clickhouse, replicas.topology).catch((cause) => {
    replicas.schema = null
    throw cause
  })
  return replicas.schema
}

/**
 * Waits until the replica of a client has all rows of these tables that were stored anywhere before. Merges and mutations
 * are not waited for.
 */
async function sync(clickhouse: ClickHouseClient, tables: readonly string[], signal?: AbortSignal): Promise<void> {
  const all = signal && AbortSignal.any([signal])
  // Each statement listens to it.
  if (all) setMaxListeners(0, all)
  await Promise.all(
    tables.map((table) =>
      clickhouse.command({
        query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT`,
        clickhouse_settings: { log_comment: 'sync_replica' },
        ...(all && { abort_signal: all }),
      }),
    ),
  )
}

/**
 * Makes a read see what the client's reads must see, and resolves to the statement to send: on a cluster, one that looks
 * at all servers' queries and refreshes. Rejects with QueryError, for one if a replica that has rows does not answer.
 */
export async function beforeRead(clickhouse: ClickHouseClient, sql: string, signal?: AbortSignal): Promise<string> {
  const replicas = known.get(clickhouse)
  if (!replicas) return sql
  try {
    const schema = await schemaOf(clickhouse, replicas)
    if (replicas.topology === 'replicated') {
      const tables = replicas.tablesOf.get(sql) ?? tablesIn(sql, schema)
      replicas.tablesOf.set(sql, tables)
      const { reads } = replicas
      await sync(clickhouse, reads === 'current' ? tables : tables.filter((table) => ALWAYS_CURRENT.has(table)), signal)
    }
    return schema.cluster === null ? sql : onAllServers(sql, schema.cluster)
  } catch (cause) {
    throw new QueryError('sync the replica', cause)
  }
}

/** Reads of what each server only knows of itself, from all servers of a cluster. */
export const onAllServers = (sql: string, cluster: string): string =>
  sql.replaceAll(/\bsystem\.(processes|view_refreshes)\b/g, `clusterAllReplicas('${cluster}', system.$1)`)

/**
 * Waits until the replica of a client has all rows of all tables that were stored anywhere before. What a ledger that was
 * read before says is stored, is there afterwards. Rejects with QueryError.
 */
export async function catchUp(clickhouse: ClickHouseClient, signal?: AbortSignal): Promise<void> {
  const replicas = known.get(clickhouse)
  if (replicas?.topology !== 'replicated') return
  try {
    const { replicated } = await schemaOf(clickhouse, replicas)
    await sync(clickhouse, [...replicated], signal)
  } catch (cause) {
    throw new QueryError('sync the replica', cause)
  }
}
