import { expect, test } from 'vitest'
import { distanceScale } from '../../../dashboard/board/scale.js'
import { axisTicks } from '../../../dashboard/parts/axis.js'
import {
  ageText,
  bpsText,
  clockText,
  integerText,
  shortText,
  tokensOf,
  tokensText,
} from '../../../dashboard/parts/figures.js'
import { SCALES } from '../../../dashboard/state/place.js'

test('basis points have a sign, and one digit after the point where it matters', () => {
  expect([0, 0.04, -0.04, 0.25, -9.94, 9.96, -12.5, 1034].map(bpsText)).toEqual([
    '0',
    '0',
    '0',
    '+0.3',
    '−9.9',
    '+10',
    '−13',
    '+1034',
  ])
})

test('ages and amounts are short', () => {
  expect([0, 59, 60, 200, 3600, 7500, 172_800, 190_000].map(ageText)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '3 min 20 s',
    '1 h',
    '2 h 5 min',
    '2 d',
    '2 d 4 h',
  ])
  expect([0, 5.5, 999, 999_600, 1_250_000, 412e6, 1e12].map((value) => shortText(value))).toEqual([
    '0',
    '5.5',
    '999',
    '1M',
    '1.25M',
    '412M',
    '1T',
  ])
  expect([825.59, 99.96, 12.34, -314.29, 4600, 0.054].map((value) => shortText(value))).toEqual([
    '826',
    '100',
    '12.3',
    '-314',
    '4.6k',
    '0.05',
  ])
  expect([3998, 4000].map((value) => shortText(value, 2))).toEqual(['3.998k', '4k'])
  expect(shortText(1e9 + 500_000, 500_000)).toBe('1.0005B')
  expect(shortText(4.999, 0.001)).toBe('4.999')
  expect(tokensOf('412000000000000')).toBe(412e6)
  expect(integerText(1_234_567)).toBe('1\u2009234\u2009567')
  expect(['0', '1', '1500000', '1234567000001'].map(tokensText)).toEqual([
    '0',
    '0.000001',
    '1.5',
    '1\u2009234\u2009567.000001',
  ])
  expect([0, 3661].map(clockText)).toEqual(['00:00', '01:01:01'])
})

test('a scale is odd, grows, and has 50 bps at 1', () => {
  for (const name of SCALES) {
    const scale = distanceScale(name)
    expect(scale(0)).toBe(0)
    expect(scale(50)).toBeCloseTo(1)
    for (const bps of [0.5, 10, 49, 400, 9999]) {
      expect(scale(-bps)).toBeCloseTo(-scale(bps))
      expect(scale(bps + 1)).toBeGreaterThan(scale(bps))
    }
  }
  expect(distanceScale('fine')(5)).toBeGreaterThan(distanceScale('coarse')(5))
})

test('ticks are at whole hours, far enough apart to read, and name each day', () => {
  const noon = Date.UTC(2026, 6, 1, 12) / 1000
  const ticks = axisTicks(noon - 86_400 + 300, noon, 600)
  expect(ticks.filter(({ isDay }) => isDay).map(({ text }) => text)).toEqual(['1 Jul'])
  expect(ticks.every(({ at }) => at % 7200 === 0)).toBe(true)
  for (const pixels of [200, 500, 1400])
    for (const length of [3600, 21_600, 86_400, 7 * 86_400]) {
      const times = axisTicks(noon - length, noon, pixels).map(({ at }) => at)
      expect(times.length).toBeGreaterThan(1)
      const gaps = times.slice(1).map((at, i) => ((at - (times[i] as number)) * pixels) / length)
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(pixels / length > 44 / 86_400 ? 44 : 0)
    }
})
