import { expect, test } from 'vitest'
import { listPeriods, type TokenListRow, unsampledRanges } from '../../../../clickhouse/chain/token-lists.js'

/** A list that holds from a block on, whose blocks are ten seconds apart. */
const list = (sequence_number: number, from_block: number, ...stables: string[]): TokenListRow => ({
  sequence_number,
  from_block,
  holds_from: from_block * 10,
  track: 'listed',
  stables,
})
const unsampled = (lists: TokenListRow[], block_number = 0) =>
  unsampledRanges(listPeriods(lists), { stable: '0xa', created: { block_number, block_time: block_number * 10 } })

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
