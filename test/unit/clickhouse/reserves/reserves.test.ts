import { expect, test } from 'vitest'
import { backingUsd } from '../../../../clickhouse/reserves/reserves.js'

test('backing is supply times price, rounded to a millionth', () => {
  // 2,500,000 tokens at 0.9987.
  expect(backingUsd(2_500_000_000_000n, 998_700)).toBe(2_496_750)
  expect(backingUsd(1n, 999_999)).toBe(0.000001)
  expect(backingUsd(1n, 499_999)).toBe(0)
  expect(backingUsd(0n, 1_000_000)).toBe(0)
})

test('a supply beyond the precision of a double keeps all its digits', () => {
  expect(backingUsd(2n ** 64n * 1_000_000n, 1_000_000)).toBe(2 ** 64)
})

test('a value that was not measured is null', () => {
  expect(backingUsd(null, 1_000_000)).toBeNull()
  expect(backingUsd(5n, null)).toBeNull()
})
