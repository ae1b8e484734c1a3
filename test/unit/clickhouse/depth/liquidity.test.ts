import { expect, test } from 'vitest'
import {
  depthWithin,
  exitShare,
  routeTo,
  type SizeQuotes,
  sizePrice,
  sizePrices,
} from '../../../../clickhouse/depth/liquidity.js'

type Quote = number | SizeQuotes['sell_status']

/** Quotes for 1,000 tokens and tenfold sizes; a price, or the reason that there is none. */
const book = (...sides: [sell: Quote, buy: Quote][]): SizeQuotes[] =>
  sides.map(([sell, buy], i) => {
    const size_tokens = 1000 * 10 ** i
    const status = (quote: Quote) => (typeof quote === 'number' ? 'quoted' : quote)
    const raw = (quote: Quote) => (typeof quote === 'number' ? `${Math.round(quote * size_tokens * 1e6)}` : null)
    return { size_tokens, sell_status: status(sell), sell_raw: raw(sell), buy_status: status(buy), buy_raw: raw(buy) }
  })

const depth = (tokens: number | null, at_least_tokens: number | null, less_than_tokens: number | null) => ({
  tokens: tokens === null ? null : expect.closeTo(tokens, 1),
  at_least_tokens,
  less_than_tokens,
})

test('the worked example of the methodology gives the documented result', () => {
  const rows = book([0.9998, 1.0001], [0.999, 1.0004], [0.994, 1.0012], ['no_liquidity', 1.008])
  expect(sizePrices(rows[1] as SizeQuotes)).toEqual({
    size_tokens: 10_000,
    sell: { status: 'quoted', price: 0.999, deviation_bps: -10 },
    buy: { status: 'quoted', price: 1.0004, deviation_bps: 4 },
    mid_price: 0.9997,
    half_spread_bps: expect.closeTo(7.0021, 4),
  })
  expect([10, 50, 100].map((bps) => depthWithin('sell', rows, bps))).toEqual([
    depth(10_000, 10_000, 100_000),
    depth(63_095.7, 10_000, 100_000),
    depth(null, 100_000, 1_000_000),
  ])
  expect([10, 50, 100].map((bps) => depthWithin('buy', rows, bps))).toEqual([
    depth(56_234.1, 10_000, 100_000),
    depth(362_095.8, 100_000, 1_000_000),
    depth(null, 1_000_000, null),
  ])
  expect(exitShare(depthWithin('sell', rows, 50), '1000000000000')).toEqual({
    share: expect.closeTo(0.063096, 6),
    at_least: 0.01,
    less_than: 0.1,
  })
})

test('outside the sampled sizes nothing is estimated, and it is said on which side', () => {
  const dear = book([0.98, 1.02], [0.97, 1.03])
  expect(depthWithin('sell', dear, 100)).toEqual(depth(null, null, 1000))
  expect(depthWithin('sell', book([1.001, 1.02], [1, 1.02]), 10)).toEqual(depth(null, 10_000, null))
})

test('a price better than the peg is within every distance of it, and its cost is negative', () => {
  const rows = book([1.01, 0.98], [1.01, 0.99])
  for (const side of ['sell', 'buy'] as const) expect(depthWithin(side, rows, 10)).toEqual(depth(null, 10_000, null))
  const quoted = (amount: bigint) => ({ status: 'quoted' as const, amount })
  expect(sizePrice('sell', quoted(5_050_000_000n), 5000)).toEqual({ price: 1.01, cost_bps: -100, reason: null })
  expect(sizePrice('buy', quoted(4_950_000_000n), 5000)).toEqual({ price: 0.99, cost_bps: -100, reason: null })
  expect(sizePrice('sell', quoted(5_000_000_000n), 5000)).toEqual({ price: 1, cost_bps: 0, reason: null })
})

test('a size without a quote is not a depth of 0: a book that ends bounds it, a quote that failed does not', () => {
  const dust = book(['no_liquidity', 'no_liquidity'], ['no_liquidity', 'no_liquidity'])
  expect(depthWithin('sell', dust, 50)).toEqual(depth(null, null, 1000))
  const without = { price: null, cost_bps: null }
  expect(sizePrice('sell', { status: 'no_liquidity', amount: null }, 5000)).toEqual({
    ...without,
    reason: 'no_liquidity',
  })
  expect(sizePrice('sell', null, 5000)).toEqual({ ...without, reason: 'unknown' })
  const failed = book([0.9999, 'no_pair'], ['failed', 'no_pair'], [0.99, 'no_pair'])
  expect(depthWithin('sell', failed, 50)).toEqual(depth(null, 1000, 100_000))
  expect(depthWithin('buy', failed, 50)).toEqual(depth(null, null, null))
  expect(sizePrices(failed[0] as SizeQuotes)).toMatchObject({ mid_price: null, half_spread_bps: null })
  expect(depthWithin('sell', [], 50)).toEqual(depth(null, null, null))
})

test('the share of a supply that is 0 or unknown is unknown', () => {
  const none = { share: null, at_least: null, less_than: null }
  for (const supply of ['0', null])
    expect(exitShare({ tokens: 5, at_least_tokens: 1, less_than_tokens: 9 }, supply)).toEqual(none)
})

test('a route ends at the reference stable, or is none', () => {
  expect(routeTo('r', ['a', 'b', 'r', '0x0'])).toEqual(['a', 'b', 'r'])
  for (const route of [['r', '0x0'], ['a', 'b'], []]) expect(routeTo('r', route)).toBeNull()
})
