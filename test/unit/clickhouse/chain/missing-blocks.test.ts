import { expect, test } from 'vitest'
import { missingBlocks } from '../../../../clickhouse/chain/gaps.js'
import { randomFor } from '../../../../local/chain/random.js'

test('missing blocks are the same as those that a count block by block finds', () => {
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
