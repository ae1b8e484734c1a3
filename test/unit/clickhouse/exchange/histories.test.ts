import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OrderBooks } from '../../../../clickhouse/exchange/books.js'
import { type Question, quote } from '../../../../clickhouse/exchange/quote.js'
import type { Rules } from '../../../../clickhouse/exchange/rules.js'
import { booksOf, snapshotOf } from '../../../../clickhouse/exchange/snapshots.js'
import { StandingQuotes } from '../../../../clickhouse/exchange/standing-quotes.js'
import * as oracle from '../../../../oracle/exchange.js'
import { type History, histories } from '../../../support/exchange-histories.js'

const SEED = 20261129

const answer = (books: OrderBooks, question: Question, rules: Rules): bigint | string => {
  const { status, amount } = quote(books, question, rules)
  return amount ?? status
}

/** Asks the books and the oracle the questions of every block; `rules` are the oracle's. */
function compare({ blocks }: History, rules: oracle.Rules): void {
  const books = new OrderBooks()
  const exchange = oracle.emptyExchange()
  for (const block of blocks) {
    books.apply(block)
    for (const log of block.logs) oracle.apply(exchange, log, rules)
    const forks = { T3: block.rules.refusesPaused, T12: block.rules.roundsByOrder }
    const asked = block.questions.map((question) => ({ ...question, block: block.number }))
    expect(asked.map((one) => ({ ...one, answer: answer(books, one, block.rules) }))).toEqual(
      asked.map((one) => ({ ...one, answer: oracle.quote(exchange, one, forks, rules) })),
    )
  }
  expect([...books.contradictions]).toEqual([])
}

const compared = (rules: oracle.Rules) => fc.property(histories, (history) => compare(history, rules))

test('after every block of any history, under the rules of any fork, quotes are those of the naive exchange', () => {
  fc.assert(compared(oracle.RULES), { seed: SEED, numRuns: 200 })
})

const { bid, ask, bought, needed } = oracle.RULES
const BROKEN: Record<string, Partial<oracle.Rules>> = {
  'a bid that rounds up': { bid: ask },
  'an ask that rounds down': { ask: bid },
  'base bought that is rounded up': { bought: needed },
  'base needed that is rounded down': { needed: bought },
  'a queue that begins with the newest order': { queue: (orders) => orders.toReversed() },
  'orders that do not flip': { flips: false },
}
test.each(Object.entries(BROKEN))('%s would be found', (_, rules) => {
  expect(
    fc.check(compared({ ...oracle.RULES, ...rules }), { seed: SEED, numRuns: 300, endOnFailure: true }).failed,
  ).toBe(true)
})

test('books that resume from a snapshot in JSON are those that never stopped, to the byte', () => {
  const property = fc.property(histories, fc.nat(14), ({ blocks }, stop) => {
    const whole = new OrderBooks()
    let resumed = new OrderBooks()
    for (const block of blocks) {
      whole.apply(block)
      resumed.apply(block)
      if (block.number === stop) resumed = booksOf(JSON.parse(JSON.stringify(snapshotOf(resumed))))
      expect(JSON.stringify(snapshotOf(resumed))).toBe(JSON.stringify(snapshotOf(whole)))
      for (const question of block.questions)
        expect(quote(resumed, question, block.rules)).toEqual(quote(whole, question, block.rules))
    }
  })
  fc.assert(property, { seed: SEED, numRuns: 60 })
})

test('a quote that no change of a block concerns is as it was, and one that is dropped and asked for again is right', () => {
  const property = fc.property(histories, ({ blocks }) => {
    const books = new OrderBooks()
    const questions = blocks.flatMap((block) => block.questions)
    const rules = (blocks[0] as History['blocks'][number]).rules
    const standing = new StandingQuotes(books, rules)
    for (const question of questions) standing.ask(question)
    for (const block of blocks) {
      standing.update(books.apply(block), block.rules)
      for (const question of questions) expect(standing.answerTo(question)).toEqual(quote(books, question, block.rules))
      const dropped = questions.filter((_, i) => (i + block.number) % 3 === 0)
      for (const question of dropped) standing.drop(question)
      for (const question of dropped) expect(standing.answerTo(question)).toBeUndefined()
      for (const question of dropped) standing.ask(question)
    }
  })
  fc.assert(property, { seed: SEED, numRuns: 60 })
})
