import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEPTH_SIZES } from '../../../../clickhouse/peg/price.js'
import { isThin, type SoldSize, standingTokens } from '../../../../clickhouse/peg/standing.js'
import { standingOf } from '../../../../oracle/peg-events.js'

const MILD = { direction: 'below', allowed_micros: 1000 } as const
const ABOVE = { direction: 'above', allowed_micros: 1000 } as const

/** What the sizes sell for: a distance from 1 in basis points, or why there is no price. */
const book = (...sides: (number | SoldSize['sell_status'])[]): SoldSize[] =>
  sides.map((side, i) => {
    const size_tokens = DEPTH_SIZES[i] as number
    return typeof side === 'number'
      ? { size_tokens, sell_status: 'quoted', sell_raw: `${Math.round(size_tokens * (1e6 + side * 100))}` }
      : { size_tokens, sell_status: side, sell_raw: null }
  })

test('a break stands up to the last size that sells beyond the limit, of those without a gap before', () => {
  expect(standingTokens(book(-11, -12, -13, -14), MILD)).toBe(1_000_000)
  expect(standingTokens(book(-11, -12, -13, -9), MILD)).toBe(100_000)
  expect(standingTokens(book(-11, -9, -13, -14), MILD)).toBe(1000)
  expect(standingTokens(book(-9, -12, -13, -14), MILD)).toBe(0)
  expect(standingTokens(book(11, 12, 13, 14), MILD)).toBe(0)
  expect(standingTokens(book(11, 12, 13, -14), ABOVE)).toBe(100_000)
  expect(standingTokens([], MILD)).toBeNull()
})

test('one base unit decides, at any size', () => {
  for (const [i, size] of DEPTH_SIZES.entries()) {
    const at = (raw: number): number | null => {
      const sizes = book(-20, -20, -20, -20)
      sizes[i] = { size_tokens: size, sell_status: 'quoted', sell_raw: `${raw}` }
      return standingTokens(sizes, MILD)
    }
    expect(at(size * 999_000)).toBe(i === 0 ? 0 : DEPTH_SIZES[i - 1])
    expect(at(size * 999_000 - 1)).toBe(1_000_000)
  }
})

test('a size that nobody buys sells for nothing, and one of which no price is known makes it unknown', () => {
  expect(standingTokens(book(-20, 'no_liquidity', 'no_liquidity', 'no_liquidity'), MILD)).toBe(1_000_000)
  expect(standingTokens(book('no_liquidity', -9, -20, -20), MILD)).toBe(1000)
  expect(standingTokens(book(20, 'no_liquidity', 20, 20), ABOVE)).toBe(1000)
  expect(standingTokens(book('no_liquidity', 'no_liquidity', 20, 20), ABOVE)).toBe(0)
  for (const status of ['paused', 'failed', 'no_pair', 'out_of_range', 'too_deep', 'not_usd'] as const) {
    expect(standingTokens(book(status, status, status, status), MILD)).toBeNull()
    expect(standingTokens(book(-20, -20, status, -20), MILD)).toBeNull()
    // Whatever follows a size that contradicts.
    expect(standingTokens(book(-20, -9, status, -20), MILD)).toBe(1000)
  }
})

test('a break that stands for fewer than 10,000 tokens is thin', () => {
  expect([null, 0, 1000, 10_000, 100_000, 1_000_000].map(isThin)).toEqual([null, true, true, false, false, false])
})

test('any book gives what the definition of the verification gives', () => {
  const price = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -3, max: 3 }).map((units) => ({ units, bps: 0 })) },
    { weight: 1, arbitrary: fc.constantFrom('no_liquidity' as const, 'failed' as const) },
    { weight: 2, arbitrary: fc.integer({ min: -9000, max: 9000 }).map((bps) => ({ units: 0, bps: bps / 100 })) },
  )
  const severity = fc.constantFrom({ bps: 10, allowed_micros: 1000 }, { bps: 50, allowed_micros: 5000 })
  fc.assert(
    fc.property(
      fc.array(price, { minLength: 4, maxLength: 4 }),
      severity,
      fc.constantFrom('below' as const, 'above' as const),
      fc.boolean(),
      (prices, { bps, allowed_micros }, direction, isBeyond) => {
        const sizes = prices.map((side, i): SoldSize => {
          const size_tokens = DEPTH_SIZES[i] as number
          if (typeof side === 'string') return { size_tokens, sell_status: side, sell_raw: null }
          // Some base units from the limit, or some basis points from it.
          const limit = size_tokens * (1_000_000 + (direction === 'above' ? 1 : -1) * allowed_micros)
          const off = side.units + Math.round(size_tokens * side.bps * 100) + (isBeyond && side.bps === 0 ? -5 : 0)
          return { size_tokens, sell_status: 'quoted', sell_raw: `${limit + off}` }
        })
        const rows = sizes.map((row) => ({ ...row, block_number: 5, block_time: 100 }))
        const start = { block_number: 4, block_time: 90, sell_micros: direction === 'above' ? 1_010_000 : 990_000 }
        const expected = standingOf({ start, confirmed_at: 100, end: null, bps }, rows)
        expect(standingTokens(sizes, { direction, allowed_micros })).toBe(expected)
      },
    ),
    { numRuns: 5000 },
  )
})
