import { describe, expect, test } from 'vitest'
import { type Movement, movementsOf, priceFlow } from '../../../../ingest/stages/flows.js'
import type { Swap } from '../../../../ingest/stages/swaps.js'

const USD = '0x20c0000000000000000000000000000000000000'
const A = '0x20c000000000000000000000000000000000000a'
const B = '0x20c000000000000000000000000000000000000b'

/** The value of a swap at these sell prices of its block. */
function worth(swap: Partial<Swap>, prices: Record<string, number | null>): string | null {
  const given = { account: '0x1', path: [A, B], amountIn: 0n, amountOut: 0n, logIndex: 3, txHash: '0xt', ...swap }
  const [movement] = movementsOf([given], [], [])
  return priceFlow({ number: 7, time: 60 }, movement as Movement, new Map(Object.entries(prices))).usd_micros
}

describe('a flow is worth', () => {
  test('its inflow at its sell price', () => {
    // 250 tokens at 0.9985.
    expect(worth({ amountIn: 250_000_000n, amountOut: 1n }, { [A]: 998_500, [B]: 1_000_100 })).toBe('249625000')
  })

  test('its own amount if the inflow is the reference stable', () => {
    expect(worth({ path: [USD, A], amountIn: 123_456_789n, amountOut: 1n }, { [USD]: 1_000_000, [A]: 998_500 })).toBe(
      '123456789',
    )
  })

  test('its outflow if the inflow has no quote, as its book may be empty after the swap', () => {
    expect(worth({ amountIn: 1n, amountOut: 40_000_000n }, { [A]: null, [B]: 1_000_100 })).toBe('40004000')
    expect(worth({ path: [A, USD], amountIn: 1n, amountOut: 40_000_000n }, { [A]: null, [USD]: 1_000_000 })).toBe(
      '40000000',
    )
  })

  test('its outflow if the inflow is not sampled at all', () => {
    expect(worth({ amountIn: 1n, amountOut: 40_000_000n }, { [B]: 999_900 })).toBe('39996000')
  })

  test('null, not zero, if neither end has a price', () => {
    expect(worth({ amountIn: 5n, amountOut: 5n }, { [A]: null })).toBeNull()
    expect(worth({ amountIn: 5n, amountOut: 5n }, {})).toBeNull()
  })

  test('whole millionths, rounded down, and zero for priced dust', () => {
    expect(worth({ amountIn: 3n }, { [A]: 999_999 })).toBe('2')
    expect(worth({ amountIn: 1n }, { [A]: 999_999 })).toBe('0')
  })

  test('the exact amount beyond the precision of a double', () => {
    expect(worth({ amountIn: 2n ** 80n }, { [A]: 1_000_000 })).toBe('1208925819614629174706176')
    expect(worth({ amountIn: 90_071_992_547_409_930_000_001n }, { [A]: 1_000_100 })).toBe('90080999746664670993001')
  })

  test('null above 2^80 millionths, so that no sum of values can overflow', () => {
    expect(worth({ amountIn: 2n ** 80n + 1n }, { [A]: 1_000_000 })).toBeNull()
    expect(worth({ amountIn: 2n ** 128n - 1n }, { [A]: 1_020_000 })).toBeNull()
  })

  test('the same whatever its hops: only the ends count', () => {
    const path = [A, USD, B]
    expect(worth({ path, amountIn: 2_000_000n, amountOut: 1n }, { [A]: 990_000, [USD]: 1_000_000 })).toBe('1980000')
  })
})
