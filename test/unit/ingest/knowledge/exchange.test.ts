import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ForkTime } from '../../../../clickhouse/chain/forks.js'
import { type ExchangeLog, OrderBooks } from '../../../../clickhouse/exchange/books.js'
import { sizeQuote } from '../../../../clickhouse/exchange/stable-quotes.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import type { ChainEvent } from '../../../../ingest/chain/event-types.js'
import { forkTimes } from '../../../../ingest/chain/forks.js'
import { Exchange } from '../../../../ingest/knowledge/exchange.js'
import { histories, placed, tokenOf } from '../../../support/exchange-histories.js'

const SEED = 20261129
const TOKENS = ['a', 'b', 'c', 'd'].map(tokenOf)
/** Every fork of the exchange's rules is there, or none. */
const forksOf = (roundsByOrder: boolean): ForkTime[] =>
  (roundsByOrder ? ['T3', 'T5', 'T12'] : []).map((name) => ({ name, activation_time: 0 }))
const eventsOf = (logs: readonly ExchangeLog[]) => logs as unknown as ChainEvent[]

test('after every block the wanted quotes are those of the books, and the others are not there', () => {
  const property = fc.property(histories, fc.nat(15), fc.boolean(), ({ blocks }, mask, roundsByOrder) => {
    const forks = forksOf(roundsByOrder)
    const books = new OrderBooks()
    const exchange = new Exchange(new OrderBooks(), () => forks)
    const rules = { refusesPaused: roundsByOrder, flipsInPlace: roundsByOrder, roundsByOrder }
    for (const { number, logs } of blocks) {
      const wanted = TOKENS.filter((_, i) => ((mask + number) >> i) % 2 === 0)
      books.apply({ number, rules, logs })
      exchange.apply({ number, time: number }, eventsOf(logs), wanted)
      const expected = TOKENS.flatMap((token) => {
        const sides = wanted.includes(token) ? sizeQuote(books, rules, token, 1_000_000n) : null
        if (!sides) return []
        const micros = (amount: bigint | null) => (amount === null ? null : Number(amount))
        const quote = {
          status: sides.sell.status,
          sellMicros: micros(sides.sell.amount),
          buyMicros: micros(sides.buy.amount),
        }
        return [[token, quote] as const]
      })
      expect(Object.fromEntries(exchange.quotes())).toEqual(Object.fromEntries(expected))
    }
  })
  fc.assert(property, { seed: SEED, numRuns: 100 })
})

test('quotes that nothing changes are the same map', () => {
  const [token = ''] = TOKENS
  const exchange = new Exchange(new OrderBooks([{ token, quoteToken: REFERENCE_STABLE }]), () => [])
  const wanted = [token]
  const order = {
    orderId: 1n,
    maker: '0x1',
    token,
    amount: 5_000_000n,
    isBid: true,
    tick: 0,
    flipTick: 0,
    isFlipOrder: false,
  }
  const opened = placed([
    { name: 'PairCreated', address: '', args: { base: token, quote: REFERENCE_STABLE } },
    { name: 'OrderPlaced', address: '', args: order },
  ])
  expect(exchange.apply({ number: 1, time: 1 }, eventsOf(opened), wanted)).toEqual([])
  const quotes = exchange.quotes()
  expect(quotes.get(token)).toEqual({ status: 'quoted', sellMicros: 1_000_000, buyMicros: null })
  exchange.apply({ number: 2, time: 2 }, [], wanted)
  expect(exchange.quotes()).toBe(quotes)

  // A fill of an order that nobody placed: what the books hold is not certain.
  const unknown = placed([
    { name: 'OrderFilled', address: '', args: { orderId: 7n, amountFilled: 1n, partialFill: true } },
  ])
  expect(exchange.apply({ number: 3, time: 3 }, eventsOf(unknown), wanted)).toEqual([
    { contradiction: 'fill_of_missing_order', log_index: 0 },
  ])
  expect([...exchange.quotes()]).toEqual([])
  expect(exchange.depths({ number: 3, time: 3 })).toEqual([])
  expect(exchange.unknownCount).toBe(1)
})

test('forks are there as the node lists them; without a list those of the main network are known', () => {
  const timeOf = (forks: readonly ForkTime[], fork: string) => forks.find(({ name }) => name === fork)?.activation_time
  const listed = [
    { name: 'T5', activation_time: 7 },
    { name: 'T12', activation_time: 9 },
  ]
  expect(['T3', 'T5', 'T12'].map((fork) => timeOf(forkTimes('tempo', listed), fork))).toEqual([0, 7, 9])
  expect(['T3', 'T5', 'T12'].map((fork) => timeOf(forkTimes('tempo', null), fork))).toEqual([
    0,
    undefined,
    1_791_900_000,
  ])
  expect(['T3', 'T5', 'T12'].map((fork) => timeOf(forkTimes('devnet', null), fork))).toEqual([0, undefined, undefined])
})
