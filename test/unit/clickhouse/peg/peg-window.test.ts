import { describe, expect, test } from 'vitest'
import { addSums, type PegSums } from '../../../../clickhouse/peg/sums.js'
import { windowFigures } from '../../../../clickhouse/peg/windows.js'

/** The sums of quoted samples with these deviations. */
const sums = (...deviations: number[]): PegSums => ({
  ...addSums([]),
  quoted_count: BigInt(deviations.length),
  deviation_sum: deviations.reduce((sum, d) => sum + BigInt(d), 0n),
  deviation_square_sum: deviations.reduce((sum, d) => sum + BigInt(d) ** 2n, 0n),
  deviation_min: deviations.length === 0 ? null : Math.min(...deviations),
  deviation_max: deviations.length === 0 ? null : Math.max(...deviations),
})

describe('a window', () => {
  test('without a sample has null figures, not zeros', () => {
    const { sample_count, unquoted_count, ...figures } = windowFigures(addSums([]))
    expect([sample_count, unquoted_count]).toEqual([0, 0])
    expect(new Set(Object.values(figures))).toEqual(new Set([null]))
  })

  test('with only unquoted samples has their count and null figures', () => {
    const figures = windowFigures({ ...addSums([]), unquoted_count: 5n })
    expect(figures).toMatchObject({
      sample_count: 0,
      unquoted_count: 5,
      unquoted_share: 1,
      mean_price: null,
      seconds_outside_10bps: null,
    })
  })

  test('says how much of it has no price', () => {
    expect(windowFigures({ ...sums(0, 0), unquoted_count: 1n }).unquoted_share).toBe(0.333333)
    expect(windowFigures({ ...sums(0), unquoted_count: 2n }).unquoted_share).toBe(0.666667)
    expect(windowFigures(sums(0)).unquoted_share).toBe(0)
  })

  test('with one sample has its price and a standard deviation of 0', () => {
    expect(windowFigures(sums(-1234))).toMatchObject({
      mean_price: 0.998766,
      stddev_price: 0,
      min_price: 0.998766,
      max_price: 0.998766,
      max_deviation_bps: 12.34,
      seconds_outside_10bps: 0,
    })
  })

  test('rounds to eight decimals, half up', () => {
    // A third of a micro is 0.33333333e-6, two thirds 0.66666667e-6.
    expect(windowFigures(sums(0, 0, 1)).mean_price).toBe(1.00000033)
    expect(windowFigures(sums(0, 1, 1)).mean_price).toBe(1.00000067)
    // 200 samples whose sum is 1: the mean is 1.000000005.
    expect(windowFigures(sums(1, ...Array(199).fill(0))).mean_price).toBe(1.00000001)
    // The square root of 2/9 is 0.471404…
    expect(windowFigures(sums(0, 0, 1)).stddev_price).toBe(0.00000047)
  })

  test('has the population standard deviation', () => {
    expect(windowFigures(sums(-100, 100)).stddev_price).toBe(0.0001)
    expect(windowFigures(sums(2, 4, 4, 4, 5, 5, 7, 9)).stddev_price).toBe(0.000002)
  })

  test('with a million samples near 1 loses no digits to cancellation', () => {
    const n = 1_000_000n
    const figures = windowFigures({
      ...sums(20_000, 20_001),
      quoted_count: n,
      deviation_sum: 20_000n * n + n / 2n,
      deviation_square_sum: (20_000n ** 2n * n) / 2n + (20_001n ** 2n * n) / 2n,
    })
    expect(figures.mean_price).toBe(1.0200005)
    expect(figures.stddev_price).toBe(0.0000005)
  })

  test('has the largest deviation in either direction', () => {
    expect(windowFigures(sums(-700, 300)).max_deviation_bps).toBe(7)
    expect(windowFigures(sums(-300, 700)).max_deviation_bps).toBe(7)
    expect(windowFigures(sums(100, 200)).max_deviation_bps).toBe(2)
  })
})

test('the sums do not depend on how samples are split', () => {
  const whole = sums(-5, 10, 3, 8000)
  expect(addSums([sums(-5), addSums([]), sums(10, 3), sums(8000)])).toEqual(whole)
  expect(addSums([sums(8000, 3), sums(10, -5)])).toEqual(whole)
})
