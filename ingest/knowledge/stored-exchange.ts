import type { ClickHouseClient } from '@clickhouse/client'
import type { ForkTime } from '../../clickhouse/chain/forks.js'
import { storedBooks } from '../../clickhouse/exchange/stored-books.js'
import type { BlockRange } from '../chain/block-ranges.js'
import type { RetryDatabase } from '../sinks/retry-database.js'
import { Exchange } from './exchange.js'

type Options = { clickhouse: ClickHouseClient; retryDatabase: RetryDatabase; forks: () => readonly ForkTime[] }

/** The exchange at the end of the block before `from`, from the stored catalogue. */
export async function exchangeBefore({ clickhouse, retryDatabase, forks }: Options, from: number): Promise<Exchange> {
  const books = await retryDatabase('read the books of the exchange', () =>
    storedBooks(clickhouse, { to: from - 1 }, forks()),
  )
  return new Exchange(books, forks)
}

/**
 * Runs `work` on what was read of a range of blocks and on the exchange as it was before them; `work` must apply all of them.
 */
export type WithExchange = <Blocks, Result>(
  range: BlockRange,
  blocks: Promise<Blocks>,
  work: (exchange: Exchange, blocks: Blocks) => Result,
) => Promise<Result>

/**
 * Hands the exchange from one range to the next: a range that directly follows the one before finds it there, for any other it
 * is read. Ranges take turns, in the order in which they are given.
 */
export function createExchanges(options: Options): WithExchange {
  let turn: Promise<unknown> = Promise.resolve()
  let last: { to: number; exchange: Exchange } | null = null
  return ({ from, to }, blocks, work) => {
    // Without a handler before its turn, a failure would end the process.
    blocks.catch(() => {})
    const result = turn.then(async () => {
      const ofRange = await blocks
      const exchange = last?.to === from - 1 ? last.exchange : await exchangeBefore(options, from)
      // Unless all of the range is applied, it is of no use to the next one.
      last = null
      const worked = work(exchange, ofRange)
      last = { to, exchange }
      return worked
    })
    turn = result.catch(() => {})
    return result
  }
}
