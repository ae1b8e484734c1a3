import { expect, test } from 'vitest'
import { createLocalCounts } from '../../../../../api/callers/limits/counts.js'

test('a window begins with a caller’s first request and ends after its time, whatever others do', () => {
  let now = 1000
  const counts = createLocalCounts(60_000, () => now)
  expect(counts.consumed('one')).toBe(0)
  expect(counts.count('one', 1)).toEqual({ consumed: 1, resetMs: 60_000 })
  now += 20_000
  expect(counts.count('other', 3)).toEqual({ consumed: 3, resetMs: 60_000 })
  expect(counts.count('one', 2)).toEqual({ consumed: 3, resetMs: 40_000 })
  now += 39_999
  expect(counts.consumed('one')).toBe(3)
  now += 1
  expect(counts.consumed('one')).toBe(0)
  expect(counts.count('one', 1)).toEqual({ consumed: 1, resetMs: 60_000 })
  expect(counts.consumed('other')).toBe(3)
})

test('no count is lost when expired windows are removed', () => {
  let now = 0
  const counts = createLocalCounts(1000, () => now)
  for (let i = 0; i < 5000; i++) {
    counts.count(`asker ${i}`, 1)
    counts.count('always', 1)
    now += 0.1
  }
  expect(counts.consumed('always')).toBe(5000)
  for (let i = 0; i < 5000; i += 500) expect(counts.consumed(`asker ${i}`)).toBe(1)
})

test('the remaining time of a window never exceeds its length, whatever the clock reads', () => {
  for (let i = 0; i < 1000; i++) {
    const counts = createLocalCounts(60_000, () => 1000 + i * 7.123_456_7)
    expect(counts.count('one', 1).resetMs).toBeLessThanOrEqual(60_000)
  }
})
