import { describe, expect, test } from 'vitest'
import { concentration } from '../../../../clickhouse/holders/figures.js'
import { randomFor } from '../../../../local/chain/random.js'

/** The sums of balances in any order, as the database adds them. */
function sumsOf(balances: readonly bigint[]) {
  const sorted = balances.toSorted((a, b) => (a > b ? -1 : 1))
  const add = (term: (balance: bigint, i: number) => bigint) =>
    sorted.reduce((sum, balance, i) => sum + term(balance, i), 0n)
  return {
    n: BigInt(sorted.length),
    sum: add((balance) => balance),
    squares: add((balance) => balance * balance),
    rank_sum: add((balance, i) => balance * BigInt(i + 1)),
  }
}

/** The mean difference of all pairs, divided by twice the mean. */
function giniOfPairs(balances: readonly number[]): number {
  const sum = balances.reduce((total, balance) => total + balance, 0)
  let differences = 0
  for (const one of balances) for (const other of balances) differences += Math.abs(one - other)
  return differences / (2 * balances.length * sum)
}

describe('concentration', () => {
  test('of nobody is unknown', () => {
    expect(concentration(sumsOf([]))).toEqual({ hhi: null, gini: null })
  })

  test('of one holder is the greatest, and equal with itself', () => {
    expect(concentration(sumsOf([10n ** 38n]))).toEqual({ hhi: 10_000, gini: 0 })
    expect(concentration(sumsOf([1n]))).toEqual({ hhi: 10_000, gini: 0 })
  })

  test('of equal holders', () => {
    expect(concentration(sumsOf([7n, 7n, 7n, 7n]))).toEqual({ hhi: 2500, gini: 0 })
  })

  test('of the largest and the smallest amount that a token can have', () => {
    const { hhi, gini } = concentration(sumsOf([2n ** 128n - 2n, 1n]))
    expect(hhi).toBeCloseTo(10_000, 10)
    expect(gini).toBeCloseTo(0.5, 12)
  })

  test('of any balances is that of all pairs', () => {
    const random = randomFor(1, 'gini')
    for (let i = 0; i < 50; i++) {
      const balances = Array.from({ length: random.int(1, 40) }, () => random.int(1, 10 ** random.int(0, 9)))
      const total = balances.reduce((sum, balance) => sum + balance, 0)
      const { hhi, gini } = concentration(sumsOf(balances.map(BigInt)))
      expect(gini).toBeCloseTo(giniOfPairs(balances), 10)
      expect(hhi).toBeCloseTo(
        balances.reduce((sum, balance) => sum + ((100 * balance) / total) ** 2, 0),
        8,
      )
    }
  })
})
