import type { ClickHouseClient } from '@clickhouse/client'
import pLimit from 'p-limit'
import { forkSchedule } from '../../clickhouse/chain/forks.js'
import type { OrderBooks } from '../../clickhouse/exchange/books.js'
import { type Rules, rulesAt } from '../../clickhouse/exchange/rules.js'
import { storedBooks } from '../../clickhouse/exchange/stored-books.js'
import type { ReadOptions } from '../../clickhouse/store/define-query.js'
import type { Memories } from '../../process/memory.js'
import { QUERY_TIMEOUT_MS } from '../answers/query-signal.js'

/** What a token, a book or an order takes. */
const ENTRY_BYTES = 500
/** As long as a live answer may be old. */
const KEPT_MS = 2000
/** Books that are rebuilt at once: each takes CPU time that other requests wait for. */
const AT_ONCE = 2

/** The logs since a snapshot are read and replayed for each past instant: what that costs a caller, in requests. */
export const costOfBooks = ({ as_of }: { as_of?: unknown }): number => (as_of === undefined ? 1 : 5)

/** All books of the exchange, and the rules of its quotes. */
type Exchange = { books: OrderBooks; rules: Rules }

/** Reads the exchange as it was at an instant; the same for all who ask at about the same time. */
export type ExchangeBooks = (until: Date, options: ReadOptions) => Promise<Exchange>

/** Books of up to `maxBytes`. */
export function createExchangeBooks(clickhouse: ClickHouseClient, memories: Memories, maxBytes: number): ExchangeBooks {
  const exchanges = memories.entries<string, Exchange>({
    name: 'books',
    holds: 'the order books of the exchange, by instant',
    until: '2 s after they were rebuilt',
    maxBytes,
    bytesOf: ({ books }) => 4096 + ENTRY_BYTES * books.entries,
    ttlMs: KEPT_MS,
  })
  const limited = pLimit(AT_ONCE)
  return (until, options) =>
    exchanges.read(until.toISOString(), () =>
      limited(async () => {
        // Others wait for it too, so it does not end with the request that began it.
        const shared = { ...options, signal: AbortSignal.timeout(QUERY_TIMEOUT_MS) }
        const forks = (await forkSchedule(clickhouse, shared))?.schedule ?? []
        const books = await storedBooks(clickhouse, { until }, forks, shared)
        return { books, rules: rulesAt(forks, Math.floor(until.getTime() / 1000)) }
      }),
    )
}
