import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import type { ForkTime } from '../chain/forks.js'
import { allStablecoins } from '../stablecoins/stablecoins.js'
import { defineOptionalRow, onlyColumn, type ReadOptions } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { OrderBooks } from './books.js'
import { type BooksSnapshot, booksOf, snapshotOf } from './snapshots.js'
import { type End, storedBlocks } from './stored-blocks.js'

const newestSnapshot = defineOptionalRow({
  name: 'exchange_snapshot',
  params: z.object({ end: z.int() }),
  row: onlyColumn('books', z.string()),
  sql: `SELECT books FROM exchange_snapshots WHERE block_number <= {end: UInt64} ORDER BY block_number DESC, recorded_at DESC LIMIT 1`,
})

const newestSnapshotUntil = defineOptionalRow({
  name: 'exchange_snapshot_until',
  params: z.object({ end: z.date() }),
  row: onlyColumn('books', z.string()),
  sql: `SELECT books FROM exchange_snapshots WHERE block_time <= {end: DateTime} ORDER BY block_number DESC, recorded_at DESC LIMIT 1`,
})

/** The books of the newest snapshot up to an end; before the first, those before the first block. */
async function nearestBooks(clickhouse: ClickHouseClient, end: End, options?: ReadOptions): Promise<OrderBooks> {
  const books =
    end.until === undefined
      ? await newestSnapshot(clickhouse, { end: end.to }, options)
      : await newestSnapshotUntil(clickhouse, { end: end.until }, options)
  if (books !== null) return booksOf(JSON.parse(books) as BooksSnapshot)
  const genesis = await allStablecoins(clickhouse, { before_block: 1 }, options)
  return new OrderBooks(genesis.map(({ stable, quote_token }) => ({ token: stable, quoteToken: quote_token })))
}

/**
 * The books at an end, from the newest snapshot before it and the logs since. `forks`: when each came to the chain. They are as
 * whole as the stored catalogue is.
 */
export async function storedBooks(
  clickhouse: ClickHouseClient,
  end: End,
  forks: readonly ForkTime[],
  options?: ReadOptions,
): Promise<OrderBooks> {
  const books = await nearestBooks(clickhouse, end, options)
  for await (const block of storedBlocks(clickhouse, books.block ?? 0, end, forks, options)) books.apply(block)
  return books
}

/** A snapshot follows after so many logs, or so many for each order that stands: replay then costs what loading one does. */
const [FEWEST_LOGS, LOGS_AN_ORDER] = [5000, 10]

/**
 * Keeps the books up to the final block `to` in snapshots, so that none of these blocks is far from one. Returns how many it
 * added. Books that a contradiction makes unknown are kept too: they say so.
 */
export async function keepBooks(clickhouse: ClickHouseClient, to: number, forks: readonly ForkTime[]): Promise<number> {
  const books = await nearestBooks(clickhouse, { to })
  let [logs, added] = [0, 0]
  for await (const block of storedBlocks(clickhouse, books.block ?? 0, { to }, forks)) {
    books.apply(block)
    logs += block.logs.length
    if (logs < Math.max(FEWEST_LOGS, LOGS_AN_ORDER * books.orderCount)) continue
    const row = { block_number: block.number, block_time: block.time, books: JSON.stringify(snapshotOf(books)) }
    await insertRows(clickhouse, 'exchange_snapshots', [row], randomUUID())
    added++
    logs = 0
  }
  return added
}
