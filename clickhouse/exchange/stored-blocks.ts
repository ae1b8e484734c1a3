import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import type { ForkTime } from '../chain/forks.js'
import { defineColumns, type ReadOptions } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import type { ExchangeBlock, ExchangeLog } from './books.js'
import { EXCHANGE_LOGS, exchangeLogOf } from './events.js'
import { type Rules, rulesAt } from './rules.js'

/** More than any block or index of a log, and the last time, of a table. */
const LAST = 2 ** 32 - 1
/** Rows that are read at once. */
const PAGE = 50_000

/**
 * `at`: the block's time in unix seconds. The first bound on the block, and that on the time, let the engine pass over what comes
 * before: it does not use the comparison of pairs for that.
 */
const eventPage = defineColumns({
  name: 'exchange_events',
  params: z.object({ after_block: z.int(), after_log: z.int(), since: z.int(), to_block: z.int(), until: z.date() }),
  columns: {
    block_number: z.int(),
    log_index: z.int(),
    at: z.int(),
    event: z.enum(EXCHANGE_LOGS),
    token: z.string(),
    quote: z.string(),
    order_id: integerText,
    maker: z.string(),
    amount_raw: integerText,
    is_bid: z.boolean(),
    tick: z.int(),
    flip_tick: z.int(),
    is_flip: z.boolean(),
    is_partial: z.boolean(),
    is_paused: z.boolean(),
  },
  sql: `
    SELECT toUInt32(number) AS block_number, log_index, toUnixTimestamp(block_time) AS at, event, token, quote,
           toString(order_id) AS order_id, maker, toString(amount_raw) AS amount_raw, is_bid, tick, flip_tick, is_flip, is_partial,
           is_paused
    FROM (SELECT * EXCEPT block_number, block_number AS number FROM exchange_events)
    WHERE number >= {after_block: UInt64} AND (number, log_index) > ({after_block: UInt64}, {after_log: UInt32})
      AND number <= {to_block: UInt64} AND block_time BETWEEN toDateTime({since: UInt32}) AND {until: DateTime}
    ORDER BY number, log_index LIMIT ${PAGE}`,
})

type Page = Awaited<ReturnType<typeof eventPage>>
type Row = { [Name in keyof Page]: Page[Name][number] }

function* rowsOf(page: Page): Generator<Row> {
  const columns = Object.entries(page)
  for (let i = 0; i < page.block_number.length; i++) {
    const row: Record<string, unknown> = {}
    for (const [name, values] of columns) row[name] = values[i]
    yield row as Row
  }
}

/** A block, and its time in unix seconds. */
export type BlockTime = { number: number; time: number }

/** Where stored blocks end: with block `to`, or with the last one whose time is at most `until`. */
export type End = { to: number; until?: undefined } | { to?: undefined; until: Date }

/** The bounds of an end as parameters. */
export const boundsOf = ({ to = LAST, until = new Date(LAST * 1000) }: End) => ({ to_block: to, until })

/** A block of stored logs, and its time in unix seconds. */
export type StoredBlock = ExchangeBlock & { time: number }

/**
 * The stored blocks after block `after` with logs that change what the exchange quotes, in order, each whole. A block that is not
 * stored looks like one without such logs: the end must not be beyond what the catalogue covers. `forks`: when each came to the
 * chain.
 */
export async function* storedBlocks(
  clickhouse: ClickHouseClient,
  after: BlockTime,
  end: End,
  forks: readonly ForkTime[],
  options?: ReadOptions,
): AsyncGenerator<StoredBlock> {
  let block: { number: number; time: number; rules: Rules; logs: ExchangeLog[] } | undefined
  let position = { after_block: after.number, after_log: LAST, since: after.time }
  for (let isLast = false; !isLast; ) {
    const page = await eventPage(clickhouse, { ...position, ...boundsOf(end) }, options)
    for (const { block_number: number, at: time, ...event } of rowsOf(page)) {
      if (block && block.number !== number) yield block
      if (block?.number !== number) block = { number, time, rules: rulesAt(forks, time), logs: [] }
      block.logs.push(exchangeLogOf(event))
      position = { after_block: number, after_log: event.log_index, since: time }
    }
    isLast = page.block_number.length < PAGE
  }
  if (block) yield block
}
