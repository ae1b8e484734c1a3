import { setImmediate } from 'node:timers/promises'
import type { ClickHouseClient } from '@clickhouse/client'
import type { QuerySignal } from './define-query.js'
import { QueryError } from './query-error.js'

type Options = { signal?: QuerySignal }

/** What a statement found about any of the stables that it was about. */
export type OfStable<Result> = (stable: string) => Result

/** Most stables of a statement, unless a read sets fewer. */
const MOST_STABLES = 100

/** A caller that waits for its part of a statement. */
type Caller<Result> = {
  stable: string
  signal: QuerySignal | undefined
  resolve: (result: Result) => void
  reject: (error: unknown) => void
  /** Its signal has aborted, and it has been rejected. */
  isGone: boolean
  /** Called when that happens while its statement runs. */
  onGone: () => void
}

/** Removes from the queue the callers of the next statement: all of the first `most` stables. */
function takeBatch<Result>(queue: Caller<Result>[], most: number): Caller<Result>[] {
  const stables = new Set<string>()
  const batch: Caller<Result>[] = []
  for (const caller of queue.splice(0)) {
    if (caller.isGone) continue
    if (stables.size < most) stables.add(caller.stable)
    if (stables.has(caller.stable)) batch.push(caller)
    else queue.push(caller)
  }
  return batch
}

/** A signal that aborts when the last of the callers is gone. It continues the trace of the first. */
function signalOf<Result>(batch: readonly Caller<Result>[]): QuerySignal {
  const all = new AbortController()
  let waiting = batch.length
  for (const caller of batch)
    caller.onGone = () => {
      waiting -= 1
      if (waiting === 0) all.abort(caller.signal?.reason)
    }
  const traceparent = batch[0]?.signal?.traceparent
  return Object.assign(all.signal, traceparent !== undefined && { traceparent })
}

/**
 * Makes of a read about several stables one about a single stable, whose callers share statements: all that ask for the
 * same in one turn of the event loop are answered by one, and so are those that come while it runs, by the next one. It
 * begins after each of its callers has come, so that nobody is answered with less than was stored by then. Planning is most of the time of a small
 * statement, and the engine has few cores: under load this answers several times as many.
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
  /** The callers that wait, by the parameters that they share. There is a queue only while a statement of its kind runs. */
  const queuesOf = new WeakMap<ClickHouseClient, Map<string, Caller<Result>[]>>()

  async function answer(clickhouse: ClickHouseClient, asked: object, batch: Caller<Result>[]) {
    const stables = [...new Set(batch.map(({ stable }) => stable))]
    try {
      const ofStable = await read(clickhouse, { ...asked, stables } as Asked, { signal: signalOf(batch) })
      for (const { stable, resolve } of batch) resolve(ofStable(stable))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (clickhouse, { stable, ...asked }, { signal } = {}) =>
    new Promise<Result>((resolve, reject) => {
      const queues = queuesOf.get(clickhouse) ?? new Map<string, Caller<Result>[]>()
      queuesOf.set(clickhouse, queues)
      const leave = (): void => {
        caller.isGone = true
        reject(new QueryError(name, signal?.reason))
        caller.onGone()
      }
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value): void => {
          signal?.removeEventListener('abort', leave)
          settle(value)
        }
      const caller: Caller<Result> = {
        stable,
        signal,
        resolve: settled(resolve),
        reject: settled(reject),
        isGone: false,
        onGone: () => undefined,
      }
      if (signal?.aborted) return leave()
      signal?.addEventListener('abort', leave, { once: true })

      const key = JSON.stringify(asked)
      const queue = queues.get(key)
      if (queue) {
        queue.push(caller)
        return
      }
      const mine = [caller]
      queues.set(key, mine)
      const work = async (): Promise<void> => {
        await setImmediate()
        while (mine.length > 0) {
          const batch = takeBatch(mine, mostStables)
          if (batch.length > 0) await answer(clickhouse, asked, batch)
        }
        queues.delete(key)
      }
      void work()
    })
}

/** The rows of each stable, without that column; none of a stable that has none. */
export function byStable<Row extends { stable: string }>(rows: readonly Row[]): OfStable<Omit<Row, 'stable'>[]> {
  const found = new Map<string, Omit<Row, 'stable'>[]>()
  for (const { stable, ...row } of rows) {
    const those = found.get(stable)
    if (those) those.push(row)
    else found.set(stable, [row])
  }
  return (stable) => found.get(stable) ?? []
}

/** Makes callers of the same read at the same time share its statement, as those of `together` do. */
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
    const own = rows[stables.indexOf(stable)] ?? []
    return Object.fromEntries(
      Object.entries<unknown[]>(columns).map(([name, values]) => [name, own.map((row) => values[row])]),
    ) as Omit<Columns, 'stable_index'>
  }
}

/** SQL: the `stable_index` of a row. */
export const STABLE_INDEX = 'toUInt32(indexOf({stables: Array(String)}, stable)) AS stable_index'
