import type { ClickHouseClient } from '@clickhouse/client'

/** How a query ended: `timeout` if it took too long, `aborted` if nobody waited for it any more. */
type QueryOutcome = 'ok' | 'failed' | 'timeout' | 'aborted'

/** Called with the name of each query that has ended. Must not throw. */
export type QueryObserver = (query: string, outcome: QueryOutcome, seconds: number) => void

/** Stored per client, so that an observer only sees the queries of its own client. */
const observers = new WeakMap<ClickHouseClient, QueryObserver>()

/** Calls `observer` for every read and insert through `clickhouse` from now on. */
export function observeQueries(clickhouse: ClickHouseClient, observer: QueryObserver): void {
  observers.set(clickhouse, observer)
}

const outcomeOf = (signal: AbortSignal | undefined): QueryOutcome =>
  !signal?.aborted ? 'failed' : (signal.reason as Error | undefined)?.name === 'TimeoutError' ? 'timeout' : 'aborted'

/**
 * Runs `work`, the query with that name, and reports to the client's observer how it ended. `signal` is the signal that
 * may cancel it.
 */
export async function observed<Result>(
  clickhouse: ClickHouseClient,
  query: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const observer = observers.get(clickhouse)
  if (!observer) return work()
  const started = performance.now()
  const report = (outcome: QueryOutcome): void => observer(query, outcome, (performance.now() - started) / 1000)
  try {
    const result = await work()
    report('ok')
    return result
  } catch (error) {
    report(outcomeOf(signal))
    throw error
  }
}
