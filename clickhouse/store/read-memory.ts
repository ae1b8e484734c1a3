import { serialize } from 'node:v8'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import type { Memories } from '../../process/memory.js'
import { defineQuery, type Keeping, type ReadOptions, type TableStates } from './define-query.js'
import { seesOneServer } from './replicas.js'
import { shared } from './together.js'

/**
 * Of each table, what identifies its parts: an insert, a mutation, a merge, an exchange of tables and a restore each make
 * others. `newest` is 0 for tables that are not partitioned by time.
 */
const tableParts = defineQuery({
  name: 'table_states',
  row: z.object({ table: z.string(), mark: z.string(), newest: z.int() }),
  sql: `
    SELECT table, toString(sum(cityHash64(path, modification_time, rows))) AS mark, toUnixTimestamp(max(max_time)) AS newest
    FROM system.parts WHERE database = currentDatabase() AND active GROUP BY table`,
})

/** How instants of reads relate to rows of tables that are not partitioned by time. */
export type Instants = {
  /** The column that reads compare with an instant, by the name of its table. */
  times: Readonly<Record<string, string>>
  /** Tables of which nothing is compared with an instant of a read, or only what is in another of its tables too. */
  timeless: ReadonlySet<string>
}

const newestTimesOf = (times: Instants['times']) =>
  defineQuery({
    name: 'newest_times',
    row: z.object({ table: z.string(), newest: z.int() }),
    sql: Object.entries(times)
      .map(
        ([table, time]) => `SELECT '${table}' AS table, toUnixTimestamp(max(${table}.${time})) AS newest FROM ${table}`,
      )
      .join(' UNION ALL '),
  })

const marksOf = (states: TableStates, tables: readonly string[]): string =>
  tables.map((table) => states.get(table)?.mark ?? '').join(' ')

/** What a process keeps of its reads. */
export type ReadMemory = {
  /** For answers about a past that a ledger says is stored. All that were begun with it look at the same states of tables. */
  given: (ledger: object) => Keeping
  /** For an answer about now: it looks at their states itself, once. */
  now: () => Keeping
}

/** When the states cannot be read, as by a user who may not see parts, they are not asked for again for so many milliseconds. */
const FAILED_MS = 10_000
/** What a result takes besides itself, in bytes: what the engine and the cache add. */
const RESULT_BYTES = 300
/** A ledger is used for a second, and one of an earlier instant by a single answer. */
const MOST_LEDGERS = 10

/**
 * Results of reads, up to `maxBytes`. The states of tables are read after the ledger of an answer: whatever that says is
 * stored is there in these states. `nowMs` is a monotonic clock.
 */
export function createReadMemory(
  clickhouse: ClickHouseClient,
  memories: Memories,
  { instants, maxBytes, timeoutMs }: { instants: Instants; maxBytes: number; timeoutMs: number },
  nowMs = () => performance.now(),
): ReadMemory {
  const readNewestTimes = newestTimesOf(instants.times)
  const results: Keeping['results'] = memories.entries({
    name: 'reads',
    holds: 'rows that a read found',
    until: 'any change of one of its tables',
    maxBytes,
    bytesOf: (kept, key) => RESULT_BYTES + 2 * key.length + serialize(kept).byteLength,
  })
  const statesOf = memories.entries<object, Promise<TableStates | null>>({
    name: 'table_states',
    holds: 'which parts each table had when a ledger was read',
    until: 'the next ledger',
    max: MOST_LEDGERS,
  })
  const newestTimes = memories.entries<string, ReadonlyMap<string, number>>({
    name: 'newest_times',
    holds: 'the time of the newest row of tables that are not partitioned by time',
    until: 'any change of one of them',
    max: 1,
  })
  let failedAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<TableStates> {
    const options = { signal: AbortSignal.timeout(timeoutMs) }
    const parts = await tableParts(clickhouse, options)
    const marks = marksOf(new Map(parts.map(({ table, ...state }) => [table, state])), Object.keys(instants.times))
    const times = await newestTimes.read(marks, async () => {
      const rows = await readNewestTimes(clickhouse, options)
      return new Map(rows.map(({ table, newest }) => [table, newest]))
    })
    const timeOf = (table: string, ofParts: number): number =>
      instants.timeless.has(table) ? 0 : (times.get(table) ?? (ofParts === 0 ? Number.POSITIVE_INFINITY : ofParts))
    return new Map(parts.map(({ table, mark, newest }) => [table, { mark, newest: timeOf(table, newest) }]))
  }

  async function readIfSeen(): Promise<TableStates | null> {
    if (!seesOneServer(clickhouse) || nowMs() - failedAt < FAILED_MS) return null
    return read().catch(() => {
      failedAt = nowMs()
      return null
    })
  }

  const readTogether = shared('table_states', readIfSeen)
  const keeping = (begin: () => Promise<TableStates | null>): Keeping => {
    let states: Promise<TableStates | null> | undefined
    return { results, states: () => (states ??= begin()) }
  }

  return {
    given: (ledger) =>
      keeping(() => {
        const states = statesOf.get(ledger) ?? readTogether(clickhouse, {})
        statesOf.set(ledger, states)
        return states
      }),
    now: () => keeping(() => readTogether(clickhouse, {})),
  }
}

type Read<Asked, Result> = (clickhouse: ClickHouseClient, asked: Asked, options?: ReadOptions) => Promise<Result>

/**
 * A read whose result is kept while no row of `tables` changes, if its options say by whom. They are all tables that the
 * result depends on. An instant after the newest row of all of them is the same question as that row's, so `at` and `as_of`
 * must mean the rows up to then, and not, for one, a window that ends there. Callers may receive the same object, so they
 * must not change it.
 */
export function keptWhile<Asked extends object, Result>(
  tables: readonly string[],
  read: Read<Asked, Result>,
): Read<Asked, Result> {
  const id = nextId++
  return async (clickhouse, asked, options = {}) => {
    const { kept } = options
    const states = (await kept?.states()) ?? null
    if (!kept || !states) return read(clickhouse, asked, options)
    const newest = Math.max(0, ...tables.map((table) => states.get(table)?.newest ?? 0)) * 1000
    const upTo = (instant: Date): Date => (instant.getTime() > newest ? new Date(newest) : instant)
    const { at, as_of }: { at?: Date; as_of?: Date } = asked
    const same = { ...asked, ...(at && { at: upTo(at) }), ...(as_of && { as_of: upTo(as_of) }) }
    const key = `${id} ${JSON.stringify(same)}`
    const mark = marksOf(states, tables)
    const before = kept.results.get(key, (stored) => stored.mark === mark)
    if (before) return before.result as Result
    const result = await read(clickhouse, same, options)
    kept.results.set(key, { mark, result })
    return result
  }
}

let nextId = 0
