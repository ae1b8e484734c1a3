import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import type { ForkTime } from '../chain/forks.js'
import { allStablecoins } from '../stablecoins/stablecoins.js'
import { defineOptionalRow, type ReadOptions } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { OrderBooks } from './books.js'
import { type BooksSnapshot, booksOf, snapshotOf } from './snapshots.js'
import { type BlockTime, boundsOf, type End, storedBlocks } from './stored-blocks.js'

/** To be raised with every change by which the same logs give other books, or a snapshot has another form. */
const REPLAY_VERSION = 1

/** What a snapshot rests on besides the logs: a snapshot that was made by anything else is not read. */
const madeBy = (forks: readonly ForkTime[]): string =>
  `${REPLAY_VERSION} T5 ${forks.find(({ name }) => name === 'T5')?.activation_time ?? 'not listed'}`

const newestSnapshot = defineOptionalRow({
  name: 'exchange_snapshot',
  params: z.object({ made_by: z.string(), to_block: z.int(), until: z.date() }),
  row: z.object({ number: z.int(), time: z.int(), books: z.string() }),
  sql: `
    SELECT toUInt32(block_number) AS number, toUnixTimestamp(block_time) AS time, books FROM exchange_snapshots
    WHERE made_by = {made_by: String} AND block_number <= {to_block: UInt64} AND block_time <= {until: DateTime}
    ORDER BY block_number DESC, recorded_at DESC LIMIT 1`,
})

/** The books of the newest snapshot up to an end, and its block; before the first, those before the first block. */
async function nearestBooks(
  clickhouse: ClickHouseClient,
  end: End,
  forks: readonly ForkTime[],
  options?: ReadOptions,
): Promise<{ books: OrderBooks; after: BlockTime }> {
  const snapshot = await newestSnapshot(clickhouse, { made_by: madeBy(forks), ...boundsOf(end) }, options)
  if (snapshot) return { books: booksOf(JSON.parse(snapshot.books) as BooksSnapshot), after: snapshot }
  const genesis = await allStablecoins(clickhouse, { before_block: 1 }, options)
  const books = new OrderBooks(genesis.map(({ stable, quote_token }) => ({ token: stable, quoteToken: quote_token })))
  return { books, after: { number: 0, time: 0 } }
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
  const { books, after } = await nearestBooks(clickhouse, end, forks, options)
  for await (const block of storedBlocks(clickhouse, after, end, forks, options)) books.apply(block)
  return books
}

/** A snapshot follows after so many logs, or two for each token, book and order in it: loading one costs about as much. */
const [FEWEST_LOGS, LOGS_AN_ENTRY] = [5000, 2]

/**
 * Keeps the books up to block `to` in snapshots, so that none of these blocks is far from one; the block must be final and
 * committed. Returns how many it added. In books that a contradiction makes unknown, so are those of the snapshot.
 */
export async function keepBooks(clickhouse: ClickHouseClient, to: number, forks: readonly ForkTime[]): Promise<number> {
  const { books, after } = await nearestBooks(clickhouse, { to }, forks)
  let [logs, added] = [0, 0]
  for await (const block of storedBlocks(clickhouse, after, { to }, forks)) {
    books.apply(block)
    logs += block.logs.length
    if (logs < Math.max(FEWEST_LOGS, LOGS_AN_ENTRY * books.entries)) continue
    const row = {
      ...{ made_by: madeBy(forks), block_number: block.number, block_time: block.time },
      books: JSON.stringify(snapshotOf(books)),
    }
    await insertRows(clickhouse, 'exchange_snapshots', [row], randomUUID())
    added++
    logs = 0
  }
  return added
}
