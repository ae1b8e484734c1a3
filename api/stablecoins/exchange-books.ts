import type { ClickHouseClient } from '@clickhouse/client'
import pLimit from 'p-limit'
import { forkSchedule } from '../../clickhouse/chain/forks.js'
import type { OrderBooks } from '../../clickhouse/exchange/books.js'
import { storedBooks } from '../../clickhouse/exchange/stored-books.js'
import type { ReadOptions } from '../../clickhouse/store/define-query.js'
import type { Memories } from '../../process/memory.js'

/** What a token, a book or an order takes. */
const ENTRY_BYTES = 500
/** As long as a live answer may be old. */
const KEPT_MS = 2000
/** Books that are rebuilt at once: each takes CPU time that other requests wait for. */
const AT_ONCE = 2

/** Reads all books of the exchange as they were at an instant; the same ones for all who ask at about the same time. */
export type ExchangeBooks = (until: Date, options: ReadOptions) => Promise<OrderBooks>

/** Books of up to `maxBytes`. */
export function createExchangeBooks(clickhouse: ClickHouseClient, memories: Memories, maxBytes: number): ExchangeBooks {
  const books = memories.entries<string, OrderBooks>({
    name: 'books',
    holds: 'the order books of the exchange, by instant',
    until: '2 s after they were rebuilt',
    maxBytes,
    bytesOf: ({ entries }) => 4096 + ENTRY_BYTES * entries,
    ttlMs: KEPT_MS,
  })
  const limited = pLimit(AT_ONCE)
  return (until, options) =>
    books.read(until.toISOString(), () =>
      limited(async () => {
        const forks = await forkSchedule(clickhouse, options)
        return storedBooks(clickhouse, { until }, forks?.schedule ?? [], options)
      }),
    )
}
