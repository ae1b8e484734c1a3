import { describe, expect, test } from 'vitest'
import { createRangeSize, type RangeSize } from '../../../../ingest/sources/range-size.js'

const sizeOf = (options = {}): RangeSize =>
  createRangeSize({ first: 1000, most: 100_000, mostResults: 500, ...options })

/** Asks a node that gives at most so many blocks, so many times; returns the sizes that it refused and answered. */
function ask(size: RangeSize, times: number, mostBlocks: number, says = false) {
  const [refused, answered]: number[][] = [[], []]
  for (let i = 0; i < times; i++) {
    const blocks = size.blocks()
    if (blocks > mostBlocks) {
      refused?.push(blocks)
      size.refused(blocks, says ? mostBlocks : null)
    } else {
      answered?.push(blocks)
      size.answered(blocks, 0, 1)
    }
  }
  return { refused: refused as number[], answered: answered as number[] }
}

describe('how many blocks are asked for at once', () => {
  test('grows twofold while a node gives them, up to a limit', () => {
    expect(ask(sizeOf(), 9, Number.POSITIVE_INFINITY).answered).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000, 100_000,
    ])
  })

  test('is at once what a node says that it gives', () => {
    const { refused, answered } = ask(sizeOf(), 10, 337, true)
    expect(refused).toEqual([1000])
    expect(answered).toEqual(Array(9).fill(337))
  })

  test('finds what a node gives that does not say, and seldom exceeds it', () => {
    const size = sizeOf()
    const { answered } = ask(size, 20, 777)
    expect(Math.min(...answered)).toBeGreaterThanOrEqual(250)
    const later = ask(size, 1000, 777)
    expect(later.refused.length).toBeLessThan(100)
    expect(Math.min(...later.answered.slice(20))).toBeGreaterThan(777 / 1.5)
  })

  test('grows again where a node gives more than before', () => {
    const size = sizeOf()
    ask(size, 20, 10)
    expect(ask(size, 400, Number.POSITIVE_INFINITY).answered.at(-1)).toBe(100_000)
  })

  test('falls where blocks have many results, before a node refuses', () => {
    const size = sizeOf()
    size.answered(1000, 2000, 1)
    expect(size.blocks()).toBe(250)
    // Twice as many would be too many.
    size.answered(250, 300, 1)
    expect(size.blocks()).toBe(250)
    size.answered(250, 200, 1)
    expect(size.blocks()).toBe(500)
  })

  test('does not grow where an answer took long', () => {
    const size = sizeOf()
    size.answered(1000, 0, 5000)
    expect(size.blocks()).toBe(1000)
  })

  test('halves once for requests that were under way together, and grows once', () => {
    const size = sizeOf()
    for (let i = 0; i < 16; i++) size.refused(1000, null)
    expect(size.blocks()).toBe(500)
    for (let i = 0; i < 16; i++) size.answered(250, 0, 1)
    expect(size.blocks()).toBe(500)
  })

  test('is never less than one block', () => {
    const size = sizeOf({ first: 2 })
    size.refused(2, null)
    size.refused(2, 0)
    expect(size.blocks()).toBe(1)
    size.answered(1, 10_000, 1)
    expect(size.blocks()).toBe(1)
  })
})
