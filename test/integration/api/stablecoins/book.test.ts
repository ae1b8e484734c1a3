import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { ExchangeLog } from '../../../../clickhouse/exchange/books.js'
import { contentOf } from '../../../../clickhouse/exchange/events.js'
import { snapshotOf } from '../../../../clickhouse/exchange/snapshots.js'
import { keepBooks, storedBooks } from '../../../../clickhouse/exchange/stored-books.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { STABLECOIN_DEX } from '../../../../ingest/chain/addresses.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, stableAddress, stablecoin, txHash } from '../../../support/rows.js'

const STABLE = stableAddress(1)
const OTHER = stableAddress(2)
const [ANN, BOB] = [1, 2].map((i) => `0x${`${i}`.repeat(40)}`) as [string, string]

/** A log without its place. */
type Bare = ExchangeLog extends infer Log ? (Log extends unknown ? Omit<Log, 'logIndex' | 'address'> : never) : never

const order = (id: number, maker: string, isBid: boolean, tick: number, tokens: number): Bare => {
  const terms = { orderId: BigInt(id), maker, token: STABLE, amount: BigInt(tokens) * 1_000_000n, isBid, tick }
  return { name: 'OrderPlaced', args: { ...terms, isFlipOrder: false, flipTick: 0 } }
}
const filled = (id: number, tokens: number, partialFill: boolean): Bare => ({
  ...{ name: 'OrderFilled', args: { orderId: BigInt(id), amountFilled: BigInt(tokens) * 1_000_000n, partialFill } },
})
const cancelled = (id: number): Bare => ({ name: 'OrderCancelled', args: { orderId: BigInt(id) } })

/** Stores the logs of the blocks from 1 on, at these times, as ingest would. */
async function addLogs(
  clickhouse: ClickHouseClient,
  times: readonly number[],
  blocks: readonly Bare[][],
  address = STABLE,
) {
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2)] })
  const rows = blocks.flatMap((logs, i) =>
    logs.map((log, log_index) => ({
      ...contentOf({ ...log, logIndex: log_index, address } as ExchangeLog),
      ...{ block_number: i + 1, log_index, block_time: times[i] as number },
    })),
  )
  await insertFacts(clickhouse, 'exchange_events', rows, 'logs')
}

const OPENED: Bare[] = [
  ...[STABLE, OTHER].map((token): Bare => ({ name: 'TokenCreated', args: { token, quoteToken: REFERENCE_STABLE } })),
  { name: 'PairCreated', args: { base: STABLE, quote: REFERENCE_STABLE } },
]

test('the book at an instant has every order that stood then, by price, and who makes most of it', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = [400, 300, 200, 100].map((ago) => now - ago)
  await addLogs(clickhouse, times, [
    OPENED,
    [
      ...[order(1, ANN, true, -20, 300), order(2, BOB, true, -10, 100), order(3, BOB, true, -20, 100)],
      ...[order(4, ANN, false, 30, 500), order(5, ANN, false, 10, 50)],
    ],
    [filled(2, 40, true), filled(5, 50, false)],
    [cancelled(1), { name: 'QuoteTokenUpdate', args: { newQuoteToken: OTHER } }],
  ])
  const at = async (ago: number, query = '') =>
    (await app.inject(`/api/v1/stablecoins/${STABLE}/book?as_of=${now - ago}${query}`)).json()
  const level = (tick: number, amount: number, total: number, orders: number) => ({
    ...{ tick, price: 1 + tick / 100_000, amount_raw: `${amount}000000`, total_raw: `${total}000000`, orders },
  })
  const before = await at(300)
  expect(before).toMatchObject({ address: STABLE, block_number: 2, coverage: { status: 'complete' } })
  expect(before.books).toEqual([
    {
      quote_token: REFERENCE_STABLE,
      is_routed: true,
      unknown_since: null,
      mid_price: 1,
      bids: {
        ...{ best_price: 0.9999, amount_raw: '500000000', orders: 3, level_count: 2 },
        levels: [level(-10, 100, 100, 1), level(-20, 400, 500, 2)],
        makers: 2,
        largest_maker: {
          ...{ maker: ANN, amount_raw: '300000000', share: 0.6 },
          without: { best_price: 0.9999, amount_raw: '200000000' },
        },
      },
      asks: {
        ...{ best_price: 1.0001, amount_raw: '550000000', orders: 2, level_count: 2 },
        levels: [level(10, 50, 50, 1), level(30, 500, 550, 1)],
        makers: 1,
        largest_maker: {
          ...{ maker: ANN, amount_raw: '550000000', share: 1 },
          without: { best_price: null, amount_raw: '0' },
        },
      },
    },
  ])
  const [after] = (await at(200, '&levels=1')).books
  expect(after.bids).toMatchObject({ amount_raw: '460000000', level_count: 2, levels: [level(-10, 60, 60, 1)] })
  expect(after.asks.levels).toEqual([level(30, 500, 500, 1)])
  // Quotes go by the new quote token, for which nobody has opened a book.
  const [left] = (await at(0)).books
  expect(left).toMatchObject({ is_routed: false, bids: { amount_raw: '160000000', orders: 2 } })
  expect((await at(400)).books).toMatchObject([{ mid_price: null, bids: { best_price: null, largest_maker: null } }])
})

test('a book about which logs contradict each other is unknown, not empty', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  await addLogs(
    clickhouse,
    [now - 200, now - 100],
    [[...OPENED, order(1, ANN, true, -20, 300)], [filled(1, 301, false)]],
  )
  const answer = (await app.inject(`/api/v1/stablecoins/${STABLE}/book`)).json()
  expect(answer.coverage).toMatchObject({ status: 'partial' })
  expect(answer.books).toMatchObject([{ unknown_since: 2, mid_price: null, bids: null, asks: null }])
})

test('an event of the exchange that is not understood makes books partial from its block on', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = [now - 300, now - 200]
  await addLogs(clickhouse, times, [[...OPENED, order(1, ANN, true, -20, 300)]])
  const place = { block_number: 2, log_index: 0, block_time: now - 200, tx_hash: txHash(1) }
  const event = {
    emitter: 'exchange',
    contract: STABLECOIN_DEX,
    topic: txHash(2),
    reason: 'topic',
    log_count: 1,
  } as const
  await insertFacts(clickhouse, 'unknown_events', [{ ...event, ...place }], 'unknown')
  const coverageAt = async (at: number) =>
    (await app.inject(`/api/v1/stablecoins/${STABLE}/book?as_of=${at}`)).json().coverage
  expect(await coverageAt(now - 201)).toMatchObject({ status: 'complete', missing: [] })
  expect(await coverageAt(now - 200)).toMatchObject({ status: 'partial', missing: [{ reason: 'unknown_event' }] })
})

test('books of more logs than are read at once are whole, also where a block is read in two parts', async ({
  clickhouse,
}) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  await insertFacts(
    clickhouse,
    'exchange_events',
    OPENED.map((log, log_index) => ({
      ...contentOf({ ...log, logIndex: log_index, address: '' } as ExchangeLog),
      ...{ block_number: 1, log_index, block_time: 1 },
    })),
    'logs',
  )
  const orders = 110_000
  await clickhouse.command({
    query: `
      INSERT INTO exchange_events (event, token, order_id, maker, amount_raw, is_bid, tick, block_number, log_index, block_time)
      SELECT 'OrderPlaced', '${STABLE}', number + 1, '${ANN}', 1000000, number % 2, if(number % 2, -10, 10),
             2 + intDiv(number, 7), number % 7, 2 + intDiv(number, 7)
      FROM numbers(${orders})`,
  })
  const books = await storedBooks(clickhouse, { to: orders }, [])
  expect([...books.contradictions]).toEqual([])
  expect(books.lastOrderId).toBe(BigInt(orders))
  const [book] = [...books.books()].filter(({ base }) => base === STABLE)
  expect([book?.bids.levels[0]?.base, book?.asks.levels[0]?.base]).toEqual([55_000_000_000n, 55_000_000_000n])
})

test('a snapshot of the books changes none, and what came before it is not read again', async ({
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const blocks = 600
  // Of every six orders, one stays in each tenth block.
  const busy = Array.from({ length: blocks }, (_, block): Bare[] => {
    const ids = Array.from({ length: 6 }, (_, i) => block * 6 + i + 1)
    const placed = ids.map((id) => order(id, id % 3 ? ANN : BOB, id % 2 === 0, id % 2 ? 50 : -50, 10))
    return [...placed, ...ids.slice(block % 10 === 0 ? 1 : 0).map(cancelled)]
  })
  const times = [OPENED, ...busy].map((_, i) => now - 1000 + i)
  await addLogs(clickhouse, times, [OPENED, ...busy])
  const booksAt = async (blocks: readonly number[]) =>
    Promise.all(blocks.map(async (to) => snapshotOf(await storedBooks(clickhouse, { to }, []))))
  const [early, late] = [
    [3, 200, 415],
    [440, 500, blocks + 1],
  ]
  const replayed = [await booksAt(early), await booksAt(late)]
  expect(replayed[1]?.[2]?.last_order_id).toBe('3600')
  expect(await keepBooks(clickhouse, blocks + 1, [])).toBe(1)
  expect(await keepBooks(clickhouse, blocks + 1, [])).toBe(0)
  expect([await booksAt(early), await booksAt(late)]).toEqual(replayed)
  await clickhouse.command({
    query: 'DELETE FROM exchange_events WHERE block_number <= (SELECT max(block_number) FROM exchange_snapshots)',
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  })
  expect(await booksAt(late)).toEqual(replayed[1])
})
