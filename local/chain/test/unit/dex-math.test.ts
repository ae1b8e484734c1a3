import { expect, test } from 'vitest'
import { baseForQuote, baseToSell, quoteForBase, quoteToBuy } from '../../dex-math.js'

test('the price at a tick is exact, and one tick is a tenth of a basis point', () => {
  expect(quoteForBase(1_000_000n, -160)).toBe(998_400n)
  expect(quoteForBase(1_000_000n, 20)).toBe(1_000_200n)
})

test('amounts are rounded in favour of the resting order', () => {
  // 1.000003 tokens at 0.9999 are 0.9999029997: the seller gets the floor, the buyer pays the ceiling.
  expect(quoteForBase(1_000_003n, -10)).toBe(999_902n)
  expect(quoteToBuy(1_000_003n, -10)).toBe(999_903n)
  // 1 / 1.0002 = 0.99980004: the buyer gets the floor, the seller gives the ceiling.
  expect(baseForQuote(1_000_000n, 20)).toBe(999_800n)
  expect(baseToSell(1_000_000n, 20)).toBe(999_801n)
})
