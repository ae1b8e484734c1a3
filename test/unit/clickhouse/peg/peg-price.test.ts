import { expect, test } from 'vitest'
import { pegCoverage } from '../../../../clickhouse/peg/coverage.js'
import { pegPrice, type StoredSample } from '../../../../clickhouse/peg/price.js'

const sample: StoredSample = {
  block_number: 12,
  block_time: new Date('2026-07-01T02:03:04Z'),
  status: 'quoted',
  sell_micros: 999_123,
  buy_micros: null,
}

const LATER = { at: new Date('2026-07-01T02:04:34.900Z'), quotedNow: false }

test('a price is given in the reference stable, and its deviation from 1 in basis points', () => {
  expect(pegPrice(sample, LATER)).toEqual({
    price_vs_refusd: 0.999123,
    spread_bps: 8.77,
    buy_price: null,
    mid_price: null,
    bid_ask_bps: null,
    block_number: 12,
    sampled_at: '2026-07-01 02:03:04+00',
    quoted: false,
    price_age_seconds: 90,
  })
  expect(pegPrice({ ...sample, sell_micros: 1_002_000, buy_micros: 1_003_000 }, LATER)).toMatchObject({
    price_vs_refusd: 1.002,
    spread_bps: 20,
    buy_price: 1.003,
    mid_price: 1.0025,
    bid_ask_bps: 10,
  })
})

test('a price is never older than nothing, although the clock of the chain may be ahead', () => {
  expect(pegPrice(sample, { at: new Date('2026-07-01T02:03:00Z'), quotedNow: true })).toMatchObject({
    price_age_seconds: 0,
  })
})

test('a sample without a quote has no price', () => {
  expect(pegPrice({ ...sample, sell_micros: null }, LATER)).toBeNull()
})

test('coverage distinguishes a measured price, an old one and none', () => {
  expect(pegCoverage('quoted', true).status).toBe('complete')
  expect(pegCoverage('anchor', true).status).toBe('complete')
  expect(pegCoverage('no_liquidity', true).status).toBe('partial')
  expect(pegCoverage('no_liquidity', false).status).toBe('unavailable')
  expect(pegCoverage('not_usd', false)).toMatchObject({
    status: 'unavailable',
    message: expect.stringContaining('not a USD'),
  })
  expect(pegCoverage(null, false).status).toBe('unavailable')
})
