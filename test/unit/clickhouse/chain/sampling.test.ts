import { expect, test } from 'vitest'
import {
  MOST_UNLISTED,
  type OpenedBook,
  sampledPeriods,
  unsampledRanges,
} from '../../../../clickhouse/chain/sampling.js'
import { listPeriods, type TokenListRow } from '../../../../clickhouse/chain/token-lists.js'

/** A list that holds from a block on, whose blocks are ten seconds apart. */
const list = (sequence_number: number, from_block: number, ...stables: string[]): TokenListRow => ({
  sequence_number,
  from_block,
  holds_from: from_block * 10,
  track: 'listed',
  stables,
})
const unsampled = (lists: TokenListRow[], block_number = 0, books: OpenedBook[] = []) =>
  unsampledRanges(sampledPeriods(listPeriods(lists), books), {
    stable: '0xa',
    created: { block_number, block_time: block_number * 10 },
  })

test('a stable is not sampled from its creation until a list has it', () => {
  const lists = [list(1, 0), list(2, 100, '0xb'), list(3, 200, '0xa')]
  expect(unsampled(lists, 50)).toEqual([{ from_block: 50, to_block: 200, from: 500, to: 2000 }])
  expect(unsampled(lists, 150)).toEqual([{ from_block: 150, to_block: 200, from: 1500, to: 2000 }])
  expect(unsampled(lists, 200)).toEqual([])
})

test('a stable that a list no longer has is not sampled from then on, until a list has it again', () => {
  const lists = [list(1, 0, '0xa'), list(2, 100)]
  expect(unsampled(lists)).toEqual([{ from_block: 100, to_block: null, from: 1000, to: null }])
  expect(unsampled([...lists, list(3, 130, '0xa')])).toEqual([{ from_block: 100, to_block: 130, from: 1000, to: 1300 }])
})

test('a list that was recorded for blocks that a rollback removed gives way to the one recorded after it', () => {
  const lists = [list(1, 0, '0xa'), list(2, 100), list(3, 90, '0xa', '0xb')]
  expect(listPeriods(lists).map(({ from_block, to_block }) => [from_block, to_block])).toEqual([
    [0, 90],
    [90, null],
  ])
  expect(unsampled(lists)).toEqual([])
})

test('of two lists for the same block the later one counts; without a list there is no period', () => {
  expect(unsampled([list(1, 0), list(2, 0, '0xa')])).toEqual([])
  expect(listPeriods([])).toEqual([])
})

const paired = (...args: Parameters<typeof list>): TokenListRow => ({ ...list(...args), track: 'paired' })
const book = (stable: string, block_number: number): OpenedBook => ({
  stable,
  block_number,
  block_time: block_number * 10,
})

test('where stables with a book are sampled, one is from its book on, or from the list on if the book is older', () => {
  expect(unsampled([paired(1, 0)], 50, [book('0xa', 70)])).toEqual([
    { from_block: 50, to_block: 70, from: 500, to: 700 },
  ])
  const later = [list(1, 0), paired(2, 100)]
  expect(unsampled(later, 50, [book('0xa', 70)])).toEqual([{ from_block: 50, to_block: 100, from: 500, to: 1000 }])
  expect(unsampled(later, 50, [book('0xa', 170)])).toEqual([{ from_block: 50, to_block: 170, from: 500, to: 1700 }])
  expect(unsampled([paired(1, 0, '0xa')], 50)).toEqual([])
  expect(unsampled([paired(1, 0), list(2, 100)], 50, [book('0xa', 170)])).toEqual([
    { from_block: 50, to_block: null, from: 500, to: null },
  ])
})

test('only the first hundred stables that are not listed are sampled, however often a book is opened', () => {
  const others = Array.from({ length: MOST_UNLISTED - 1 }, (_, i) => book(`0x${i + 1000}`, 10 + i))
  const whole = [{ from_block: 0, to_block: 500, from: 0, to: 5000 }]
  const never = [{ from_block: 0, to_block: null, from: 0, to: null }]
  const lists = [paired(1, 0, '0xb')]
  const books = [...others, book('0x1000', 200), book('0xb', 210)]
  expect(unsampled(lists, 0, [...books, book('0xa', 500)])).toEqual(whole)
  expect(unsampled(lists, 0, [...books, book('0xc', 499), book('0xa', 500)])).toEqual(never)
  // Who is listed needs no place, so the next one has it.
  expect(
    unsampled([...lists, paired(2, 600, '0xb', '0xc')], 0, [...books, book('0xc', 499), book('0xa', 500)]),
  ).toEqual([{ from_block: 0, to_block: 600, from: 0, to: 6000 }])
})
