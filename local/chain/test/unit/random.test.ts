import { expect, test } from 'vitest'
import { randomFor, shuffled } from '../../random.js'

const draws = (...address: Parameters<typeof randomFor>): number[] => {
  const random = randomFor(...address)
  return Array.from({ length: 1000 }, () => random.next())
}

test('the same keys give the same draws, and others give different ones', () => {
  expect(draws(1, 'trade', 7)).toEqual(draws(1, 'trade', 7))
  for (const other of [draws(2, 'trade', 7), draws(1, 'cell', 7), draws(1, 'trade', 8), draws(1, 'trade', 7, 0)]) {
    expect(other).not.toEqual(draws(1, 'trade', 7))
  }
})

test('draws are uniform in [0, 1), also the first ones of neighbouring blocks', () => {
  const firsts = Array.from({ length: 4000 }, (_, block) => randomFor(1, 'trade', block).next())
  for (const sample of [draws(3, 'x'), firsts]) {
    expect(Math.min(...sample)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...sample)).toBeLessThan(1)
    expect(sample.reduce((sum, x) => sum + x, 0) / sample.length).toBeCloseTo(0.5, 1)
  }
})

test('whole numbers include both ends and nothing beyond', () => {
  const random = randomFor(1, 'int')
  const seen = new Set(Array.from({ length: 500 }, () => random.int(-2, 2)))
  expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2])
})

test('a shuffle keeps every item and does not change the original', () => {
  const items = [1, 2, 3, 4, 5, 6, 7, 8]
  const mixed = shuffled(items, randomFor(1, 'shuffle'))
  expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(mixed).not.toEqual(items)
  expect([...mixed].sort((a, b) => a - b)).toEqual(items)
})

test('picking from an empty list throws', () => {
  expect(() => randomFor(1, 'x').pick([])).toThrow('empty')
})
