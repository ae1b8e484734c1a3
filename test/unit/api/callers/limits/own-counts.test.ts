import { expect, test } from 'vitest'
import { createOwnCounts } from '../../../../../api/callers/limits/counts.js'

test('a window begins with a caller’s first request and ends after its time, whatever others do', () => {
  let now = 1000
  const own = createOwnCounts(60_000, () => now)
  expect(own.consumed('one')).toBe(0)
  expect(own.count('one', 1)).toEqual({ consumed: 1, resetMs: 60_000 })
  now += 20_000
  expect(own.count('other', 3)).toEqual({ consumed: 3, resetMs: 60_000 })
  expect(own.count('one', 2)).toEqual({ consumed: 3, resetMs: 40_000 })
  now += 39_999
  expect(own.consumed('one')).toBe(3)
  now += 1
  expect(own.consumed('one')).toBe(0)
  expect(own.count('one', 1)).toEqual({ consumed: 1, resetMs: 60_000 })
  expect(own.consumed('other')).toBe(3)
})

test('no count is lost when expired windows are removed', () => {
  let now = 0
  const own = createOwnCounts(1000, () => now)
  for (let i = 0; i < 5000; i++) {
    own.count(`asker ${i}`, 1)
    own.count('always', 1)
    now += 0.1
  }
  expect(own.consumed('always')).toBe(5000)
  for (let i = 0; i < 5000; i += 500) expect(own.consumed(`asker ${i}`)).toBe(1)
})

test('the remaining time of a window never exceeds its length, whatever the clock reads', () => {
  for (let i = 0; i < 1000; i++) {
    const own = createOwnCounts(60_000, () => 1000 + i * 7.123_456_7)
    expect(own.count('one', 1).resetMs).toBeLessThanOrEqual(60_000)
  }
})
