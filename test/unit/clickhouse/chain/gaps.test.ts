import { describe, expect, test } from 'vitest'
import type { CoveredRange } from '../../../../clickhouse/chain/covered-ranges.js'
import { type DeclaredGap, missingBlocks, openGaps } from '../../../../clickhouse/chain/gaps.js'
import { randomFor } from '../../../../local/chain/random.js'

test('the number of missing blocks equals a count block by block', () => {
  const random = randomFor(1, 'ranges')
  const ranges = (most: number) =>
    Array.from({ length: random.int(0, most) }, () => {
      const from_block = random.int(0, 90)
      return { from_block, to_block: from_block + random.int(0, 15) }
    })
  const isIn = (block: number, all: ReturnType<typeof ranges>) =>
    all.some(({ from_block, to_block }) => from_block <= block && block <= to_block)
  let [none, some] = [0, 0]
  for (let i = 0; i < 500; i++) {
    const [gaps, covered] = [ranges(6), ranges(8)]
    const blocks = Array.from({ length: 120 }, (_, block) => block)
    const expected = blocks.filter((block) => isIn(block, gaps) && !isIn(block, covered)).length
    expect(missingBlocks(gaps, covered)).toBe(expected)
    if (expected === 0) none++
    else some++
  }
  expect(Math.min(none, some)).toBeGreaterThan(50)
})

describe('a declared gap', () => {
  const gap = (family: DeclaredGap['family'], from_block: number, to_block: number, reason = 'pruned') => ({
    family,
    from_block,
    to_block,
    reason,
  })
  const covered = (family: DeclaredGap['family'], from_block: number, to_block: number, stables: string[] = []) =>
    ({ family, from_block, to_block, stables }) satisfies CoveredRange

  test('is open until all of it is ingested in the same family for every stable', () => {
    const declared = [gap('pegs', 1, 10)]
    expect(openGaps(declared, [])).toEqual(declared)
    expect(openGaps(declared, [covered('pegs', 1, 9)])).toEqual(declared)
    expect(openGaps(declared, [covered('pegs', 0, 12, ['0xa'])])).toEqual(declared)
    expect(openGaps(declared, [covered('state', 0, 12)])).toEqual(declared)
    expect(openGaps(declared, [covered('pegs', 0, 5), covered('pegs', 6, 12)])).toEqual([])
  })

  test('is merged with adjacent gaps that have the same reason', () => {
    const declared = [gap('pegs', 1, 10), gap('pegs', 4, 20, 'other'), gap('pegs', 11, 12), gap('state', 13, 14)]
    const expected = [gap('pegs', 1, 12), gap('pegs', 4, 20, 'other'), gap('state', 13, 14)]
    expect(openGaps(declared, [])).toEqual(expected)
    expect(openGaps(declared.toReversed(), [])).toEqual(expected)
  })

  test('of logs stays open, since flows without a value are never read again', () => {
    expect(openGaps([gap('logs', 1, 10)], [covered('logs', 1, 10)])).toEqual([gap('logs', 1, 10)])
  })
})
