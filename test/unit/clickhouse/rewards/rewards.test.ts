import { expect, test } from 'vitest'
import { rewardsEndedAt, yearlyPct } from '../../../../clickhouse/rewards/rewards.js'

test('the yield assumes that every week of the year equals the last', () => {
  // 500 tokens in a week on 400,000: 0.125 % a week, 52.142857 weeks a year.
  expect(yearlyPct(500, 400_000, 7)).toBeCloseTo(6.517857142857, 12)
  expect(yearlyPct(0, 400_000, 7)).toBe(0)
  expect(yearlyPct(500, 0, 7)).toBeNull()
  expect(yearlyPct(500, null, 7)).toBeNull()
  // Less than a day is no rate.
  expect(yearlyPct(500, 400_000, 0.9)).toBeNull()
  expect(yearlyPct(500, 400_000, null)).toBeNull()
})

test('rewards ended only on the main network, and only from that time on', () => {
  const day = new Date('2026-07-09T00:00:00Z')
  expect(rewardsEndedAt(4217, day)).toEqual(day)
  expect(rewardsEndedAt(4217, new Date(day.getTime() - 1000))).toBeNull()
  expect(rewardsEndedAt(31_337, day)).toBeNull()
  expect(rewardsEndedAt(null, day)).toBeNull()
})
