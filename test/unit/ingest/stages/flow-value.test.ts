import { describe, expect, test } from 'vitest'
import {
  bookAmountKey,
  bookAmountsOf,
  flowValue,
  listedPrices,
  type Movement,
} from '../../../../ingest/stages/flows.js'
import { accountOf, tokens } from '../../../support/dealings.js'

const USD = '0x20c0000000000000000000000000000000000000'
const [A, B, OWN, FAKE] = tokens as [string, string, string, string]
const MOST = 2n ** 128n - 1n

/** A trade of A for B. */
const movement = (changes: Partial<Movement>): Movement => ({
  kind: 'transfer',
  from_token: A,
  to_token: B,
  account: accountOf('a1'),
  path: [],
  remote_chain: null,
  amountIn: 0n,
  amountOut: 0n,
  isClear: true,
  logIndex: 0,
  txHash: '0xt1',
  ...changes,
})

/** Its value where these stables are listed at these prices, and books pay this for these amounts. */
const worth = (
  changes: Partial<Movement>,
  listed: Record<string, number | null>,
  books: Array<[token: string, amount: bigint, paid: bigint | null]> = [],
): bigint | null =>
  flowValue(movement(changes), {
    listed: new Map(Object.entries(listed)),
    books: new Map(books.map(([token, amount, paid]) => [bookAmountKey({ token, amount }), paid])),
  })

describe('between listed stables, a flow is worth', () => {
  test('the lesser of what was given and what was got, at their prices', () => {
    const prices = { [A]: 998_500, [B]: 1_000_100 }
    expect(worth({ amountIn: 250_000_000n, amountOut: 300_000_000n }, prices)).toBe(249_625_000n)
    expect(worth({ amountIn: 300_000_000n, amountOut: 250_000_000n }, prices)).toBe(250_025_000n)
    expect(
      worth({ from_token: USD, amountIn: 123_456_789n, amountOut: 10n ** 30n }, { ...prices, [USD]: 1_000_000 }),
    ).toBe(123_456_789n)
  })

  test('what the side with a price is worth, if the other has none', () => {
    expect(worth({ amountIn: 1n, amountOut: 40_000_000n }, { [A]: null, [B]: 1_000_100 })).toBe(40_004_000n)
    expect(worth({ amountIn: 40_000_000n, amountOut: 1n }, { [A]: 1_000_100, [B]: null })).toBe(40_004_000n)
  })

  test('whole millionths, rounded down, and zero for dust', () => {
    expect(worth({ amountIn: 3n, amountOut: 9n }, { [A]: 999_999, [B]: 1_000_000 })).toBe(2n)
    expect(worth({ amountIn: 1n, amountOut: 9n }, { [A]: 999_999, [B]: 1_000_000 })).toBe(0n)
  })
})

describe('with an unlisted token on one side, a flow is worth', () => {
  test('at most what its own book pays for that very amount', () => {
    const given = { from_token: OWN, amountIn: 500_000_000n, amountOut: 400_000_000n }
    expect(worth(given, { [B]: 1_000_000 }, [[OWN, 500_000_000n, 99_000_000n]])).toBe(99_000_000n)
    expect(worth(given, { [B]: 1_000_000 }, [[OWN, 500_000_000n, 480_000_000n]])).toBe(400_000_000n)
  })

  test('what the listed side is worth, if no book takes the amount', () => {
    const given = { from_token: OWN, amountIn: 10n ** 30n, amountOut: 1n }
    expect(worth(given, { [B]: 1_000_000 }, [[OWN, 10n ** 30n, null]])).toBe(1n)
  })

  test('nothing, if the book pays nothing', () => {
    expect(worth({ from_token: OWN, amountIn: 1n, amountOut: 9n }, { [B]: 1_000_000 }, [[OWN, 1n, 0n]])).toBe(0n)
  })
})

describe('a flow has no value, which is not zero,', () => {
  test('if neither side is listed, whatever their books pay', () => {
    const own = { from_token: OWN, to_token: FAKE, amountIn: 9n, amountOut: 9n }
    expect(
      worth(own, { [B]: 1_000_000 }, [
        [OWN, 9n, 9n],
        [FAKE, 9n, 9n],
      ]),
    ).toBeNull()
  })

  test('if the listed side has no price', () => {
    expect(worth({ amountIn: 5n, amountOut: 5n }, { [A]: null, [B]: null })).toBeNull()
    expect(worth({ from_token: OWN, amountIn: 5n, amountOut: 5n }, { [B]: null }, [[OWN, 5n, 5n]])).toBeNull()
  })

  test('if a book was not asked, as there were too many amounts in the block', () => {
    expect(worth({ from_token: OWN, amountIn: 5n, amountOut: 5n }, { [B]: 1_000_000 })).toBeNull()
  })

  test('if it is not clear who traded', () => {
    expect(worth({ amountIn: 5n, amountOut: 5n, isClear: false }, { [A]: 1_000_000, [B]: 1_000_000 })).toBeNull()
  })

  test('of more than 2^80 millionths of a dollar: sums of values can never wrap', () => {
    const prices = { [A]: 1_000_000, [B]: 1_000_000 }
    expect(worth({ amountIn: 2n ** 80n, amountOut: MOST }, prices)).toBe(2n ** 80n)
    expect(worth({ amountIn: 2n ** 80n + 1n, amountOut: MOST }, prices)).toBeNull()
    expect(worth({ amountIn: MOST, amountOut: MOST }, { [A]: 1_020_000, [B]: 1_020_000 })).toBeNull()
  })
})

test('books are asked about unlisted tokens against listed ones only, about each amount once', () => {
  const listed = new Set([A, B])
  const asked = (...changes: Partial<Movement>[]) => bookAmountsOf(changes.map(movement), listed)
  expect(
    asked({ amountIn: 1n, amountOut: 1n }, { from_token: OWN, to_token: FAKE, amountIn: 2n, amountOut: 2n }),
  ).toEqual([])
  const one = { from_token: OWN, amountIn: 3n, amountOut: 1n }
  expect(asked(one, one, { ...one, isClear: false, amountIn: 9n }, { to_token: FAKE, amountOut: 4n })).toEqual([
    { token: OWN, amount: 3n },
    { token: FAKE, amount: 4n },
  ])
})

test('the reference stable is worth a dollar, though it is on no list', () => {
  const samples = [
    { stable: A, sell_micros: 999_000 },
    { stable: OWN, sell_micros: 1_020_000 },
  ]
  expect([...listedPrices(samples, new Set([A]))]).toEqual([
    [A, 999_000],
    [USD, 1_000_000],
  ])
})
