import { expect, test } from 'vitest'
import { CONTRADICTIONS, type Contradiction, OrderBooks } from '../../../../clickhouse/exchange/books.js'
import { type Quote, quote } from '../../../../clickhouse/exchange/quote.js'
import { rulesAt } from '../../../../clickhouse/exchange/rules.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import * as oracle from '../../../../oracle/exchange.js'
import { type BareLog, placed, tokenOf } from '../../../support/exchange-histories.js'
import { randoms } from '../../../support/randoms.js'

const MOST = 2n ** 128n - 1n
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(tokenOf) as [string, string, string, string]
const [T4, T11, T12] = [['T3'], ['T3', 'T5'], ['T3', 'T5', 'T12']].map((forks) =>
  rulesAt(
    forks.map((name) => ({ name, activation_time: 0 })),
    0,
  ),
) as [ReturnType<typeof rulesAt>, ReturnType<typeof rulesAt>, ReturnType<typeof rulesAt>]

const created = (token: string, quoteToken = REFERENCE_STABLE): BareLog => ({
  ...{ name: 'TokenCreated', address: '', args: { token, quoteToken } },
})
const opened = (base: string, quote_ = REFERENCE_STABLE): BareLog => ({
  ...{ name: 'PairCreated', address: '', args: { base, quote: quote_ } },
})
const requoted = (address: string, newQuoteToken: string): BareLog => ({
  ...{ name: 'QuoteTokenUpdate', address, args: { newQuoteToken } },
})
const paused = (address: string, isPaused: boolean): BareLog => ({
  ...{ name: 'PauseStateUpdate', address, args: { isPaused } },
})
const MAKER = `0x${'4'.repeat(40)}`
type Terms = { token?: string; tick?: number; flipTick?: number; isBid?: boolean }
const order = (id: number, amount: bigint, { token = A, tick = 0, flipTick, isBid = true }: Terms = {}): BareLog => ({
  ...{ name: 'OrderPlaced', address: '' },
  args: {
    ...{ orderId: BigInt(id), maker: MAKER, token, amount, isBid, tick },
    ...{ isFlipOrder: flipTick !== undefined, flipTick: flipTick ?? 0 },
  },
})
const filled = (id: number, amountFilled: bigint, partialFill = false): BareLog => ({
  ...{ name: 'OrderFilled', address: '', args: { orderId: BigInt(id), amountFilled, partialFill } },
})
const cancelled = (id: number): BareLog => ({
  ...{ name: 'OrderCancelled', address: '', args: { orderId: BigInt(id) } },
})
const flipped = (id: number, amount: bigint, { token = A, tick = 0, flipTick = 0, isBid = true }: Terms): BareLog => ({
  ...{
    name: 'OrderFlipped',
    address: '',
    args: { orderId: BigInt(id), maker: MAKER, token, amount, isBid, tick, flipTick },
  },
})

function booksWith(logs: readonly BareLog[], rules = T12): OrderBooks {
  const books = new OrderBooks()
  books.apply({ number: 1, rules, logs: placed(logs) })
  return books
}
const sold = (books: OrderBooks, amount: bigint, rules = T12): Quote =>
  quote(books, { from: A, to: REFERENCE_STABLE, exact: 'in', amount }, rules)
const boughtFor = (books: OrderBooks, amount: bigint, rules = T12): Quote =>
  quote(books, { from: REFERENCE_STABLE, to: A, exact: 'in', amount }, rules)
const quoted = (amount: bigint) => ({ status: 'quoted', amount })
const refused = (status: string) => ({ status, amount: null })

const MARKET = [created(A), opened(A)]

test('a pair without orders has no liquidity, not even for nothing', () => {
  const books = booksWith(MARKET)
  expect(sold(books, 0n)).toEqual(refused('no_liquidity'))
  books.apply({ number: 2, rules: T12, logs: placed([order(1, 5n)]) })
  expect([0n, 5n, 6n].map((amount) => sold(books, amount))).toEqual([quoted(0n), quoted(5n), refused('no_liquidity')])
})

test('what is too little for another unit is dropped since T12; before, the next level has to take it', () => {
  // 102 pay for the ask of 100; one more does not buy another unit.
  const books = booksWith([...MARKET, order(1, 100n, { isBid: false, tick: 2000 })])
  expect(boughtFor(books, 103n, T12)).toEqual(quoted(100n))
  expect(boughtFor(books, 103n, T11)).toEqual(refused('no_liquidity'))
  books.apply({ number: 2, rules: T11, logs: placed([order(2, 1n, { isBid: false, tick: 2000 })]) })
  expect(boughtFor(books, 103n, T11)).toEqual(quoted(100n))
  // 49 would buy 50, of which there are 49; what they charge, rounded up, leaves nothing over.
  const cheap = booksWith([...MARKET, order(1, 49n, { isBid: false, tick: -2000 })])
  for (const rules of [T11, T12])
    expect([49n, 50n].map((amount) => boughtFor(cheap, amount, rules))).toEqual([quoted(49n), refused('no_liquidity')])
})

test('each rule changes in the second of its own fork', () => {
  const forks = [
    { name: 'T3', activation_time: 30 },
    { name: 'T4', activation_time: 40 },
    { name: 'T5', activation_time: 50 },
    { name: 'T12', activation_time: 120 },
  ]
  const rules = [29, 30, 49, 50, 119, 120].map((time) => Object.values(rulesAt(forks, time)).filter(Boolean).length)
  expect(rules).toEqual([0, 1, 1, 2, 2, 3])
  expect(rulesAt(forks, 50)).toEqual({ refusesPaused: true, flipsInPlace: true, roundsByOrder: false })
})

test('the exchange refuses amounts of more than 128 bits on the way, and no others', () => {
  const asks = booksWith([...MARKET, order(1, MOST, { isBid: false, tick: 2000 })])
  const cost = (amount: bigint): Quote => quote(asks, { from: REFERENCE_STABLE, to: A, exact: 'out', amount }, T12)
  expect(cost(MOST)).toEqual(refused('overflow'))
  expect(cost((MOST * 100n) / 102n)).toEqual(quoted(MOST))
  const bids = booksWith([...MARKET, order(1, MOST, { tick: -2000 })])
  const needed = (amount: bigint): Quote => quote(bids, { from: A, to: REFERENCE_STABLE, exact: 'out', amount }, T11)
  expect(needed(MOST)).toEqual(refused('overflow'))
  expect(needed((MOST * 98n) / 100n)).toEqual(quoted(MOST))
  expect(() => sold(bids, MOST + 1n)).toThrow(RangeError)
  expect(() => sold(bids, -1n)).toThrow(RangeError)
})

test('orders stay in the book of the quote token that they were placed in, however often it changes in a block', () => {
  const books = booksWith([...MARKET, created(B), order(1, 500n)])
  const there = placed([requoted(A, B), opened(A, B), order(2, 700n)])
  const back = [requoted(A, REFERENCE_STABLE), requoted(A, B), requoted(A, REFERENCE_STABLE)]
  books.apply({ number: 2, rules: T12, logs: there })
  expect(sold(books, 1n)).toEqual(refused('no_pair'))
  expect(quote(books, { from: A, to: B, exact: 'in', amount: 700n }, T12)).toEqual(quoted(700n))
  books.apply({ number: 3, rules: T12, logs: placed(back) })
  expect([500n, 501n].map((amount) => sold(books, amount))).toEqual([quoted(500n), refused('no_liquidity')])
  // An order that flipped under a new id, before T5, went to the book of that time; one that keeps its id stays.
  expect(quote(books, { from: A, to: B, exact: 'in', amount: 1n }, T12)).toEqual(refused('no_pair'))
  expect([...books.contradictions]).toEqual([])
})

test('a token that was paused and unpaused in one block is sold at its end', () => {
  const books = booksWith([...MARKET, order(1, 500n), paused(A, true), paused(A, false)])
  expect(sold(books, 1n)).toEqual(quoted(1n))
  books.apply({ number: 2, rules: T12, logs: placed([paused(A, true)]) })
  expect(sold(books, 1n)).toEqual(refused('paused'))
  expect(boughtFor(books, 1n)).toEqual(refused('no_liquidity'))
  expect(sold(books, 1n, rulesAt([], 0))).toEqual(quoted(1n))
})

const FLIP = order(1, 100n, { tick: -10, flipTick: 10 })
const UNDONE = { tick: 10, flipTick: -10, isBid: false }
/** Logs that contradict those before them, after a market with a book of each of two tokens. */
const CONTRADICTORY: Record<Contradiction, BareLog[]> = {
  missing_token: [paused(C, true)],
  token_created_twice: [created(A)],
  quote_token_loop: [created(C), created(D, C), requoted(C, D)],
  pair_created_twice: [opened(A)],
  pair_of_other_quote_token: [opened(A, B)],
  order_without_pair: [created(C), order(1, 100n, { token: C })],
  order_placed_twice: [order(1, 100n), filled(1, 100n), order(1, 100n)],
  fill_of_missing_order: [filled(7, 1n)],
  fill_beyond_remainder: [order(1, 100n), filled(1, 60n, true), filled(1, 41n)],
  fill_below_remainder: [order(1, 100n), filled(1, 60n)],
  cancel_of_missing_order: [order(1, 100n), cancelled(1), cancelled(1)],
  flip_of_missing_order: [flipped(7, 100n, UNDONE)],
  flip_of_unfilled_order: [FLIP, flipped(1, 100n, UNDONE)],
  flip_of_plain_order: [order(1, 100n), filled(1, 100n), flipped(1, 100n, UNDONE)],
  flip_on_other_terms: [FLIP, filled(1, 100n), flipped(1, 99n, UNDONE)],
  flip_not_logged: [FLIP, filled(1, 100n)],
}
/** Those of which it is not known whose orders they concern. */
const OF_ANY_BOOK = ['fill_of_missing_order', 'cancel_of_missing_order', 'flip_of_missing_order']
const OF_TOKENS = ['missing_token', 'token_created_twice', 'quote_token_loop']

test.each(CONTRADICTIONS)('%s is counted, and what it concerns is unknown from its block on', (contradiction) => {
  const books = booksWith([...MARKET, created(B), opened(B)])
  const logs = CONTRADICTORY[contradiction]
  const changes = books.apply({ number: 2, rules: T12, logs: placed(logs) })
  expect(changes.contradictions).toEqual([{ contradiction, log_index: logs.length - 1 }])
  books.apply({ number: 3, rules: T12, logs: placed([order(8, 10n), order(9, 10n, { token: B })]) })
  expect([...books.contradictions]).toEqual([[contradiction, 1]])
  const unknown = [...books.books()].filter(({ unknownSince }) => unknownSince === 2)
  const doubted = [...books.tokens.values()].filter(({ unknownSince }) => unknownSince === 2)
  expect(unknown.length).toBe(OF_ANY_BOOK.includes(contradiction) ? 2 : OF_TOKENS.includes(contradiction) ? 0 : 1)
  expect(doubted.length).toBe(OF_TOKENS.includes(contradiction) ? 1 : 0)
  for (const { base, quote: to } of unknown)
    if (books.tokens.get(base)?.quoteToken === to)
      expect(quote(books, { from: base, to, exact: 'in', amount: 1n }, T12)).toEqual(refused('unknown'))
  const isOther = unknown.every(({ base }) => base !== B) && books.tokens.get(B)?.unknownSince === null
  const ofB = quote(books, { from: B, to: REFERENCE_STABLE, exact: 'in', amount: 1n }, T12)
  expect(ofB).toEqual(isOther ? quoted(1n) : refused('unknown'))
})

test('a filled flip order without a log is gone before T5, and placed again under a new id is back', () => {
  const books = booksWith(
    [...MARKET, FLIP, filled(1, 100n), order(2, 100n, { tick: 10, flipTick: -10, isBid: false })],
    T4,
  )
  expect([...books.contradictions]).toEqual([])
  expect(boughtFor(books, 100n, T4)).toEqual(quoted(99n))
  books.apply({ number: 2, rules: T4, logs: placed([filled(2, 100n)]) })
  expect(boughtFor(books, 1n, T4)).toEqual(refused('no_liquidity'))
  expect([...books.contradictions]).toEqual([])
})

test('blocks and logs that do not ascend are an error of the caller', () => {
  const books = booksWith(MARKET)
  expect(() => books.apply({ number: 1, rules: T12, logs: [] })).toThrow('block 1 comes after block 1')
  const logs = placed([order(1, 1n), order(2, 1n)]).reverse()
  expect(() => books.apply({ number: 2, rules: T12, logs })).toThrow('log 0 of block 2 comes after log 1')
  expect(() => new OrderBooks([{ token: A, quoteToken: A }])).toThrow('quoted in itself')
})

test('a level of thousands of orders, of which many were taken out, is walked as if one by one', () => {
  const random = randoms(7)
  const logs: BareLog[] = [...MARKET]
  let id = 0
  for (const isBid of [true, false])
    for (const tick of [0, 2000])
      for (let i = 0; i < 400; i++) logs.push(order(++id, BigInt(1 + random(1000)), { tick, isBid }))
  for (let gone = 1; gone < id; gone += 1 + random(3)) logs.push(cancelled(gone))
  const books = booksWith(logs)
  const exchange = oracle.emptyExchange()
  for (const log of logs) oracle.apply(exchange, log)
  for (let i = 0; i < 60; i++) {
    const ends = random(2) === 0 ? { from: A, to: REFERENCE_STABLE } : { from: REFERENCE_STABLE, to: A }
    const exact = random(2) === 0 ? ('in' as const) : ('out' as const)
    const question = { ...ends, exact, amount: BigInt(random(300_000)) }
    const { status, amount } = quote(books, question, T12)
    expect(amount ?? status).toBe(oracle.quote(exchange, question, { T3: true, T12: true }))
  }
})
