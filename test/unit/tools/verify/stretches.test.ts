import { describe, expect, test } from 'vitest'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import type { CoveredRange } from '../../../../clickhouse/chain/covered-ranges.js'

import { hasBlocks, rangesOf, stretchesOf } from '../../../../tools/verify/stretches.js'

const [A, B] = ['0xa', '0xb'] as const
const range = (family: CoveredRange['family'], from_block: number, to_block: number, stables: string[] = []) => ({
  family,
  stables,
  from_block,
  to_block,
})
const everything = (from: number, to: number) => FAMILIES.map((family) => range(family, from, to))
const ALL = { catalogue: 'all', logs: 'all', pegs: 'all', state: 'all', transfers: 'all' }
const NONE = { catalogue: [], logs: [], pegs: [], state: [], transfers: [] }

describe('covered stretches', () => {
  test('are one stretch if all data is there', () => {
    expect(stretchesOf(everything(1, 90), [], 90)).toEqual([{ from: 1, to: 90, isIn: ALL, isPriced: true }])
  })

  test('end with the newest block of the tip', () => {
    expect(stretchesOf([...everything(1, 90), range('pegs', 91, 95, [A])], [], 90)).toHaveLength(1)
  })

  test('are split where a family or a stable starts or ends', () => {
    const covered = [
      range('catalogue', 1, 49),
      range('pegs', 10, 30, [B]),
      range('pegs', 20, 40, [A]),
      range('logs', 30, 49),
      ...everything(50, 60),
    ]
    expect(stretchesOf(covered, [], 60).map(({ from, to, isIn }) => [from, to, isIn])).toEqual([
      [1, 9, { ...NONE, catalogue: 'all' }],
      [10, 19, { ...NONE, catalogue: 'all', pegs: [B] }],
      [20, 29, { ...NONE, catalogue: 'all', pegs: [A, B] }],
      [30, 30, { ...NONE, catalogue: 'all', logs: 'all', pegs: [A, B] }],
      [31, 40, { ...NONE, catalogue: 'all', logs: 'all', pegs: [A] }],
      [41, 49, { ...NONE, catalogue: 'all', logs: 'all' }],
      [50, 60, ALL],
    ])
  })

  test('have no values of flows where there is a gap, though the logs are there', () => {
    const gap = { family: 'logs' as const, from_block: 5, to_block: 7, reason: 'pruned' }
    expect(stretchesOf(everything(1, 9), [gap], 9).map(({ from, isPriced }) => [from, isPriced])).toEqual([
      [1, true],
      [5, false],
      [8, true],
    ])
  })

  test('leave out blocks without any data', () => {
    expect(stretchesOf([...everything(1, 3), ...everything(7, 9)], [], 9).map(({ from, to }) => [from, to])).toEqual([
      [1, 3],
      [7, 9],
    ])
  })
})

test('the ranges of a family join adjacent stretches, for all stables or for one', () => {
  const covered = [
    range('catalogue', 1, 49),
    range('pegs', 10, 20, [A]),
    range('pegs', 15, 30, [B]),
    ...everything(50, 60),
  ]
  const stretches = stretchesOf(covered, [], 60)
  expect(rangesOf(stretches, 'pegs')).toEqual([[50, 60]])
  expect(rangesOf(stretches, 'pegs', A)).toEqual([
    [10, 20],
    [50, 60],
  ])
  expect(rangesOf(stretches, 'catalogue')).toEqual([[1, 60]])
  expect(stretches.filter(hasBlocks).map(({ from }) => from)).toEqual([10, 15, 21, 50])
})
