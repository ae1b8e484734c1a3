import { describe, expect, test } from 'vitest'
import { rateCentralization, ratePeg, ratePolicy, tokens } from '../../../../../api/stablecoins/briefings/ratings.js'
import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'

const STABLE = `0x20c1${'0'.repeat(36)}`
const CALM = {
  sample_count: 95,
  unquoted_count: 5,
  max_deviation_bps: 50,
  seconds_outside_10bps: 3600,
  seconds_outside_50bps: 0,
}

describe('the risk of a peg', () => {
  test.for([
    ['low', {}],
    ['medium', { max_deviation_bps: 50.01 }],
    ['medium', { seconds_outside_10bps: 3601 }],
    ['medium', { unquoted_count: 6 }],
    ['medium', { max_deviation_bps: 200, seconds_outside_50bps: 3600, seconds_outside_10bps: 90_000 }],
    ['medium', { unquoted_count: 95 }],
    ['high', { max_deviation_bps: 200.01 }],
    ['high', { max_deviation_bps: 60, seconds_outside_50bps: 3601, seconds_outside_10bps: 3601 }],
    ['high', { unquoted_count: 96 }],
  ] as const)('is %s with %o', ([rating, changes]) => {
    expect(ratePeg(STABLE, { ...CALM, ...changes }).rating).toBe(rating)
  })

  test('is not rated without a price, nor for the reference stable', () => {
    const nothing = { max_deviation_bps: null, seconds_outside_10bps: null, seconds_outside_50bps: null }
    expect(ratePeg(STABLE, { sample_count: 0, unquoted_count: 9, ...nothing })).toEqual({
      rating: 'unrated',
      basis: 'No price in the last 7 days; 9 samples without one.',
    })
    expect(ratePeg(REFERENCE_STABLE, { ...CALM, max_deviation_bps: 0 }).rating).toBe('unrated')
  })
})

const OPEN = { type: 'allow_all', policy_id: '1', policy_admin: null, paused: false } as const

test('the risk of a policy depends on who can be kept out', () => {
  const ratings = (['allow_all', 'blacklist', 'whitelist', 'compound', 'reject_all'] as const).map(
    (type) => ratePolicy({ ...OPEN, type }).rating,
  )
  expect(ratings).toEqual(['low', 'medium', 'high', 'high', 'high'])
  expect(ratePolicy({ ...OPEN, paused: true })).toEqual({
    rating: 'high',
    basis: 'All transfers are paused. Transfer policy 1: everybody may hold and send it.',
  })
  expect(ratePolicy(null).rating).toBe('unrated')
})

test('the risk of centralization depends on how many of two powers exist', () => {
  const admin = { ...OPEN, policy_admin: STABLE }
  expect(rateCentralization({ cap: '5' }, OPEN).rating).toBe('low')
  expect(rateCentralization({ cap: '5' }, admin).rating).toBe('medium')
  expect(rateCentralization({ cap: null }, OPEN).rating).toBe('medium')
  expect(rateCentralization({ cap: null }, admin)).toEqual({
    rating: 'high',
    basis: `Its supply has no cap, and ${STABLE} administers its policy.`,
  })
  expect(rateCentralization(null, OPEN).rating).toBe('unrated')
  expect(rateCentralization({ cap: null }, null).rating).toBe('unrated')
})

test('amounts are exact to the last digit', () => {
  const amounts = ['0', '1', '10', '1000000', '1500000', '340282366920938463463374607431768211454']
  expect(amounts.map(tokens)).toEqual([
    '0',
    '0.000001',
    '0.00001',
    '1',
    '1.5',
    '340282366920938463463374607431768.211454',
  ])
})
