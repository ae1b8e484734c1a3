import { expect, test } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { samplePeg } from '../../../../ingest/stages/sample-peg.js'

const stable = (address: string, currency = 'USD', block_number = 0) => ({
  stable: address,
  currency,
  admin: '',
  tier: 'listed' as const,
  block_number,
  sampled_from: block_number,
})
const quotes = new Map([
  ['0xa', { status: 'quoted' as const, sellMicros: 999_700, buyMicros: 1_000_100 }],
  ['0xb', { status: 'no_liquidity' as const, sellMicros: null, buyMicros: 1_000_500 }],
])
const sample = (number: number, time: number, parentTime: number, stables = [stable('0xa')]) =>
  samplePeg({ number, time, parentTime }, stables, quotes, new Set(), 1)

test('a failed quote is a row with its status, and the anchor is worth 1', () => {
  const stables = [stable('0xa'), stable('0xb'), stable(REFERENCE_STABLE), stable('0xe', 'EUR')]
  expect(
    sample(7, 120, 60, stables).map(({ status, sell_micros, buy_micros }) => [status, sell_micros, buy_micros]),
  ).toEqual([
    ['quoted', 999_700, 1_000_100],
    ['no_liquidity', null, 1_000_500],
    ['anchor', 1_000_000, 1_000_000],
    ['not_usd', null, null],
  ])
})

test('a stable that is too many books away is a row without a price, and is not asked about', () => {
  const [near, deep] = samplePeg(
    { number: 7, time: 120, parentTime: 60 },
    [stable('0xa'), stable('0xc')],
    quotes,
    new Set(['0xc']),
    1,
  )
  expect(near?.status).toBe('quoted')
  expect(deep).toMatchObject({ status: 'too_deep', sell_micros: null, buy_micros: null, elapsed_seconds: 60 })
})

test('a sample covers the time since the block before, but at most 120 s', () => {
  expect(sample(7, 160, 100)[0]?.elapsed_seconds).toBe(60)
  expect(sample(7, 1000, 100)[0]?.elapsed_seconds).toBe(120)
  expect(sample(7, 100, 100)[0]?.elapsed_seconds).toBe(0)
})

test('the first sample of a stable covers no time, as there is none before it', () => {
  expect(sample(7, 160, 100, [stable('0xa', 'USD', 7)])[0]?.elapsed_seconds).toBe(0)
  expect(sample(8, 160, 100, [stable('0xa', 'USD', 7)])[0]?.elapsed_seconds).toBe(60)
  expect(sample(1, 160, 100)[0]?.elapsed_seconds).toBe(0)
})
