import type { ClickHouseClient } from '@clickhouse/client'

/** How a query ended: `timeout` when it took too long, `aborted` when nobody waited for it any more. */
type QueryOutcome = 'ok' | 'failed' | 'timeout' | 'aborted'

/** Is told of each query that has ended, by its name. Must not throw. */
export type QueryObserver = (query: string, outcome: QueryOutcome, seconds: number) => void

/** Kept with the client, so that what watches one client hears nothing of another. */
const observers = new WeakMap<ClickHouseClient, QueryObserver>()

/** Has `observer` told of everything that is read and written through `clickhouse` from now on. */
export function observeQueries(clickhouse: ClickHouseClient, observer: QueryObserver): void {
  observers.set(clickhouse, observer)
}

const outcomeOf = (signal: AbortSignal | undefined): QueryOutcome =>
  !signal?.aborted ? 'failed' : (signal.reason as Error | undefined)?.name === 'TimeoutError' ? 'timeout' : 'aborted'

/** Does `work`, the query of that name, and tells the client's observer how it ended. `signal` is what may end it. */
export async function observed<Result>(
  clickhouse: ClickHouseClient,
  query: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const observer = observers.get(clickhouse)
  if (!observer) return work()
  const started = performance.now()
  const tell = (outcome: QueryOutcome): void => observer(query, outcome, (performance.now() - started) / 1000)
  try {
    const result = await work()
    tell('ok')
    return result
  } catch (error) {
    tell(outcomeOf(signal))
    throw error
  }
}
