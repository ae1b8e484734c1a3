import { setImmediate } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import { SharedWork } from '../../process/shared-work.js'
import type { QuerySignal } from './define-query.js'
import { QueryError } from './query-error.js'

type Options = { signal?: QuerySignal }

/** What a statement found about any of the stables that it was about. */
export type OfStable<Result> = (stable: string) => Result

/** Most stables of a statement, unless a read sets fewer. */
const MOST_STABLES = 100

type Caller = { stable: string; signal: QuerySignal | undefined }

/** A statement and those that wait for it. */
type Batch<Result> = { stables: Set<string>; callers: Caller[]; work: SharedWork<OfStable<Result>> }

/** The batches of the same parameters that have not begun, and the end of the newest one: each begins after the one before. */
type Queue<Result> = { waiting: Batch<Result>[]; newest: Promise<unknown> }

/** What one caller gets of its batch; rejected when it goes away. */
function partOf<Result>(name: string, { stables, callers, work }: Batch<Result>, caller: Caller): Promise<Result> {
  const { stable, signal } = caller
  stables.add(stable)
  callers.push(caller)
  return new Promise((resolve, reject) => {
    work.join(signal, () => reject(new QueryError(name, signal?.reason)))
    work.result.then((ofStable) => resolve(ofStable(stable))).catch(reject)
  })
}

/**
 * Makes of a read about several stables one about a single stable, whose callers share statements: all that ask for the
 * same in one turn of the event loop are answered by one, and so are those that come while it runs, by the next one. It
 * begins after each of its callers has come, so that nobody is answered with less than was stored by then. Planning is
 * most of the time of a small statement, and the engine has few cores: under load this answers several times as many.
 *
 * Callers share the parameters besides the stable, which must be plain values. An error is that of all callers of its
 * statement. A caller whose signal aborts is rejected with QueryError, and the statement runs on for the others. Callers
 * may receive the same object, so they must not change it.
 */
export function together<Asked extends { stables: string[] }, Result>(
  name: string,
  read: (clickhouse: ClickHouseClient, asked: Asked, options: Options) => Promise<OfStable<Result>>,
  mostStables = MOST_STABLES,
): (
  clickhouse: ClickHouseClient,
  asked: Omit<Asked, 'stables'> & { stable: string },
  options?: Options,
) => Promise<Result> {
  /** The queues in which a statement waits or runs, by the parameters that its callers share. */
  const queuesOf = new WeakMap<ClickHouseClient, Map<string, Queue<Result>>>()

  /** Reads for the callers that have not gone by now. It continues the trace of the first. */
  async function answer(clickhouse: ClickHouseClient, asked: object, callers: Caller[], signal: AbortSignal) {
    signal.throwIfAborted()
    const staying = callers.filter((caller) => !caller.signal?.aborted)
    const traceparent = staying[0]?.signal?.traceparent
    const stables = [...new Set(staying.map(({ stable }) => stable))]
    const options = { signal: Object.assign(signal, traceparent !== undefined && { traceparent }) }
    return read(clickhouse, { ...asked, stables } as Asked, options)
  }

  /** A batch of the queue that has room for a stable. */
  function batchFor(clickhouse: ClickHouseClient, asked: object, stable: string): Batch<Result> {
    const queues = queuesOf.get(clickhouse) ?? new Map<string, Queue<Result>>()
    queuesOf.set(clickhouse, queues)
    const key = JSON.stringify(asked)
    const queue = queues.get(key) ?? { waiting: [], newest: setImmediate() }
    queues.set(key, queue)
    const open = queue.waiting.find(
      ({ stables, work }) => !work.isAbandoned && (stables.has(stable) || stables.size < mostStables),
    )
    if (open) return open
    const callers: Caller[] = []
    const work = new SharedWork((signal) => {
      const begin = (): Promise<OfStable<Result>> => {
        queue.waiting.shift()
        return answer(clickhouse, asked, callers, signal)
      }
      return queue.newest.then(begin, begin).finally(() => {
        if (queue.newest === work.result) queues.delete(key)
      })
    })
    const batch = { stables: new Set<string>(), callers, work }
    queue.newest = work.result
    queue.waiting.push(batch)
    return batch
  }

  return async (clickhouse, { stable, ...asked }, { signal } = {}) => {
    if (signal?.aborted) throw new QueryError(name, signal.reason)
    return partOf(name, batchFor(clickhouse, asked, stable), { stable, signal })
  }
}

/** The rows of each stable, without that column; none of a stable that has none. */
export function byStable<Row extends { stable: string }>(rows: readonly Row[]): OfStable<Omit<Row, 'stable'>[]> {
  const rowsOf = new Map<string, Omit<Row, 'stable'>[]>()
  for (const { stable, ...row } of rows) {
    const earlier = rowsOf.get(stable)
    if (earlier) earlier.push(row)
    else rowsOf.set(stable, [row])
  }
  return (stable) => rowsOf.get(stable) ?? []
}

/** A read whose callers share statements like those of `together`, if all of their parameters are the same. */
export function shared<Asked extends object, Result>(
  name: string,
  read: (clickhouse: ClickHouseClient, asked: Asked, options: Options) => Promise<Result>,
): (clickhouse: ClickHouseClient, asked: Asked, options?: Options) => Promise<Result> {
  const readTogether = together(name, async (clickhouse, { given }: { stables: string[]; given: Asked }, options) => {
    const result = await read(clickhouse, given, options)
    return () => result
  })
  return (clickhouse, given, options) => readTogether(clickhouse, { given, stable: '' }, options)
}

/**
 * The columns of each stable, where `stable_index` is its place in the parameter `stables`, counted from 1: a number for each
 * row is sent in a fraction of the time of an address.
 */
export function columnsByStable<Columns extends Record<string, unknown[]>>(
  { stable_index, ...columns }: Columns & { stable_index: number[] },
  stables: readonly string[],
): OfStable<Omit<Columns, 'stable_index'>> {
  const rows = stables.map((): number[] => [])
  for (const [row, index] of stable_index.entries()) rows[index - 1]?.push(row)
  return (stable) => {
    const places = rows[stables.indexOf(stable)] ?? []
    return Object.fromEntries(
      Object.entries<unknown[]>(columns).map(([name, values]) => [name, places.map((row) => values[row])]),
    ) as Omit<Columns, 'stable_index'>
  }
}

/** SQL: the `stable_index` of a row. */
export const STABLE_INDEX = 'toUInt32(indexOf({stables: Array(String)}, stable)) AS stable_index'
