import { expect, test } from 'vitest'
import { edgeScores, unusualOf } from '../../../../clickhouse/flows/edge-scores.js'
import { type EdgeWindow, EQUAL_WITHIN } from '../../../../clickhouse/flows/edge-windows.js'
import { EXTREMES } from '../../../../clickhouse/flows/tails.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'

const NOON = new Date('2026-07-01T12:00:00Z')

const edgeWindow = (changes: Partial<EdgeWindow> = {}): EdgeWindow => ({
  from: 'A',
  to: 'B',
  from_address: '0xa',
  to_address: '0xb',
  observed_micros: '100000000',
  observed_log: 18_420_681,
  tx_count: 1,
  tx_count_log: 0,
  is_active: true,
  is_valued: true,
  is_read: true,
  baseline_windows: 672,
  observations: 40,
  median_twice: 2 * 18_420_681,
  distance_four_times: 4 * 300_000,
  distances_twice: 2 * 40 * 250_000,
  at_least: 20,
  at_most: 20,
  largest: Array.from({ length: 40 }, (_, i) => 18_420_681 + 40_000 * (20 - i)),
  smallest: Array.from({ length: 40 }, (_, i) => 18_420_681 - 40_000 * (20 - i)),
  correlation: 0,
  tx_median_twice: 0,
  tx_distance_four_times: 0,
  tx_distances_twice: 0,
  hour_windows: 0,
  hour_active: 0,
  hour: null,
  silent_windows: 0,
  longest_silences: [],
  usual_windows: 0,
  usual_active: 0,
  is_silence_read: false,
  ...changes,
})

const scoreOf = (changes: Partial<EdgeWindow>) => edgeScores([edgeWindow(changes)], NOON)[0]

const WEEK = 672
const HISTORY = 2 * WEEK
const MARKETS_ASKED = 1500

/** The volume of each window of a market, as a logarithm in millionths; null without a flow. */
type Market = (number | null)[]

const ascending = (a: number, b: number): number => a - b
const middleTwice = (sorted: readonly number[]): number =>
  (sorted[Math.ceil(sorted.length / 2) - 1] as number) + (sorted[Math.floor(sorted.length / 2)] as number)

/** The week up to the last flow, of a market that has none in its last window. */
function silenceIn(market: Market): Partial<EdgeWindow> {
  const last = market.findLastIndex((log) => log !== null)
  const week = market.slice(Math.max(0, last + 1 - WEEK), last + 1)
  const silences = week
    .map((log) => (log === null ? '-' : 'x'))
    .join('')
    .split('x')
    .slice(0, -1)
  return {
    is_active: false,
    observed_micros: '0',
    silent_windows: market.length - 1 - last,
    usual_windows: week.length,
    usual_active: silences.length,
    longest_silences: silences
      .map(({ length }) => length)
      .sort((a, b) => b - a)
      .slice(0, EXTREMES),
    is_silence_read: true,
  }
}

/** What is asked about the last window of a market, by the week before it. */
function windowOf(market: Market): Partial<EdgeWindow> {
  const observed_log = market.at(-1) ?? null
  const week = market.slice(-WEEK - 1, -1)
  const series = week.filter((log) => log !== null)
  const logs = series.toSorted(ascending)
  const observations = logs.length
  if (observed_log === null) return { observations, baseline_windows: WEEK, ...silenceIn(market) }
  const median_twice = middleTwice(logs)
  const distances = logs.map((log) => Math.abs(2 * log - median_twice)).sort(ascending)
  const mean = logs.reduce((sum, log) => sum + log, 0) / observations
  const products = series.slice(1).map((log, i) => (log - mean) * ((series[i] as number) - mean))
  return {
    observed_log,
    observations,
    baseline_windows: WEEK,
    median_twice,
    distance_four_times: middleTwice(distances),
    distances_twice: distances.reduce((sum, distance) => sum + distance, 0),
    at_least: logs.filter((log) => log >= observed_log - EQUAL_WITHIN).length,
    at_most: logs.filter((log) => log <= observed_log + EQUAL_WITHIN).length,
    largest: logs.toReversed().slice(0, EXTREMES),
    smallest: logs.slice(0, EXTREMES),
    correlation: products.reduce((sum, x) => sum + x, 0) / logs.reduce((sum, log) => sum + (log - mean) ** 2, 0),
  }
}

const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())

/** How far each volume lies from the usual one: the markets that a score must be right about, none of them normal in USD. */
const VOLUMES: Record<string, (random: Random) => (window: number) => number> = {
  lognormal: (random) => () => normal(random),
  'one in twenty a hundred times larger': (random) => () =>
    normal(random) / 2 + (random.chance(0.05) ? Math.log(100) : 0),
  'Pareto 1.2': (random) => () => -Math.log(1 - random.next()) / 1.2,
  'each like the one before': (random) => {
    let last = normal(random)
    return () => {
      last = 0.8 * last + 0.6 * normal(random)
      return last
    }
  },
  'by the hour': (random) => (window) => normal(random) / 2 + 2 * Math.sin((2 * Math.PI * window) / 96),
}

/** In which windows there is a flow: at random, in bursts of ten windows on average, and by day only. */
const ACTIVITIES: Record<string, (random: Random) => (window: number) => boolean> = {
  sparse: (random) => () => random.chance(0.05),
  dense: (random) => () => random.chance(0.7),
  'in bursts': (random) => {
    let isOn = false
    return () => {
      if (random.chance(0.1)) isOn = !isOn
      return isOn
    }
  },
  'by day': (random) => (window) => window % 96 < 48 && random.chance(0.6),
}

for (const [activity, activityFor] of Object.entries(ACTIVITIES))
  test(`of ordinary windows, at most a share p has a p-value of p or less, on every kind of market with flows that are ${activity}`, () => {
    for (const [volumes, volumesFor] of Object.entries(VOLUMES)) {
      const random = randomFor(18, `${activity} ${volumes}`)
      const isActive = activityFor(random)
      const volume = volumesFor(random)
      const shares = new Map([0.2, 0.05, 0.01, 0.003, 0.001].map((p) => [p, 0]))
      const market: Market = []
      let asked = 0
      for (let window = 0; asked < MARKETS_ASKED; window++) {
        const distance = volume(window)
        market.push(isActive(window) ? Math.round(1e6 * (18 + distance)) : null)
        // Windows far apart, at every hour of the day.
        if (window < HISTORY || window % 11 !== 0) continue
        asked += 1
        const p_value = scoreOf(windowOf(market.slice(-HISTORY)))?.p_value ?? 1
        for (const [p, times] of shares) if (p_value <= p) shares.set(p, times + 1)
      }
      // A fifth more, and three standard errors of the count.
      for (const [p, times] of shares) {
        const expected = 1.2 * p * MARKETS_ASKED
        expect(times, `${volumes}: p <= ${p}`).toBeLessThan(expected + 3 * Math.sqrt(expected))
      }
    }
  })

test('what is far beyond all of a history is found, on every kind of market', () => {
  for (const [volumes, volumesFor] of Object.entries(VOLUMES)) {
    const random = randomFor(19, volumes)
    const volume = volumesFor(random)
    const market: Market = Array.from({ length: HISTORY }, (_, window) => Math.round(1e6 * (18 + volume(window))))
    const largest = Math.max(...(market as number[]))
    const [large, silent] = [[largest + Math.round(1e6 * Math.log(1000))], Array(40).fill(null) as null[]]
    expect(scoreOf(windowOf([...market, ...large]))?.p_value, volumes).toBeLessThan(0.002)
    expect(scoreOf(windowOf([...market, ...silent]))?.p_value, volumes).toBeLessThan(0.001)
  }
})

test('an edge that is not scored says why, and one that is says what is unusual', () => {
  expect(scoreOf({ is_read: false })).toMatchObject({
    p_value: null,
    expected_high_usd: null,
    reasons: ['its baseline is not wholly read: not scored'],
  })
  expect(scoreOf({ observations: 9 })?.reasons).toEqual(['fewer than 10 observations: not scored'])
  expect(scoreOf({ is_valued: false })).toMatchObject({
    observed_usd: null,
    reasons: ['only flows without a USD value: not scored'],
  })
  expect(scoreOf({ is_active: false, observed_micros: '0' })?.reasons).toEqual([
    'fewer than 10 observations in the week up to its last flow: not scored',
  ])
  const silence = {
    is_active: false,
    silent_windows: 3,
    usual_windows: 672,
    usual_active: 336,
    longest_silences: [3, ...Array(40).fill(1)],
  }
  expect(scoreOf({ ...silence, is_silence_read: true })).toMatchObject({ p_value: 1 })
  expect(scoreOf(silence)).toMatchObject({ p_value: null, silent_windows: null })
  const longer = { ...silence, longest_silences: [2, ...Array(40).fill(1)], is_silence_read: true }
  // The largest of the fits has 40 peaks of at least one window: 41 of 337 by 40 / 39, with two windows above 1.
  const share = (((41 / 337) * 40) / 39) * (1 + 2 / 40) ** -39
  expect(scoreOf(longer)).toMatchObject({
    p_value: expect.closeTo((2 * share * 336) / 672, 12),
    reasons: [
      'no flow in 3 windows',
      'the longest silence of the week before it had 2 windows',
      'active in 50 % of the windows of that week',
    ],
  })
  expect(
    scoreOf({ observed_log: 18_420_681 - 2_302_585, at_most: 1, hour_windows: 112, hour_active: 28 })?.reasons,
  ).toEqual([
    '10 % of the median of its active windows',
    '1 of its 40 active windows had as little',
    'active in 25 % of the windows of this hour (12:00 UTC) in four weeks',
  ])
})

test('a window is unusual by its volume or its transactions, and neither in an hour in which it is not', () => {
  const unusual = (changes: Partial<EdgeWindow>) => unusualOf(edgeWindow(changes))
  const { robust_z: usual, expected_high_usd } = scoreOf({}) ?? {}
  expect([usual, unusual({})]).toEqual([0, null])
  const large = { observed_log: 18_420_681 + 1_400_000, at_least: 0, at_most: 40 }
  expect(scoreOf(large)?.robust_z).toBeCloseTo(3.15, 2)
  expect(unusual(large)).toBe('surge')
  expect(scoreOf(large)?.unusual).toBe('surge')
  // Three deviations from the median, but one in twenty windows has as much: it is expected.
  expect(unusual({ ...large, at_least: 2 })).toBeNull()
  expect(expected_high_usd).toBeLessThan(405)
  const small = { observed_log: 18_420_681 - 1_400_000, at_least: 40, at_most: 0 }
  // An edge that is active in 6 % of windows cannot have less than usual; one that is active in 59 % can.
  expect(unusual(small)).toBeNull()
  expect(unusual({ ...small, hour_windows: 112, hour_active: 66 })).toBe('drop')
  // Ten transactions instead of one, of an edge that has one or two; and of one on which as many are nothing new.
  const many = { tx_count: 10, tx_count_log: 2_302_585 }
  expect(scoreOf({ ...many, tx_distances_twice: 2 * 8 * 693_147 })).toMatchObject({
    tx_count_z: expect.closeTo(2 * Math.sqrt(10.375) - 2 * Math.sqrt(1.375), 5),
    reasons: expect.arrayContaining(['10 transactions, against a median of 1']),
  })
  expect(unusual(many)).toBe('surge')
  expect(unusual({ ...many, tx_distance_four_times: 4 * 693_147 })).toBeNull()
  expect(unusual({ ...many, tx_median_twice: 2 * 1_609_438 })).toBeNull()
  // At an hour at which that is usual.
  const { observations, largest, smallest, distance_four_times, distances_twice, correlation } = edgeWindow()
  const spread = { observations, distance_four_times, distances_twice, correlation }
  const counts = { tx_median_twice: 2 * 2_302_585, tx_distance_four_times: 0, tx_distances_twice: 0 }
  const raised = (logs: readonly number[]): number[] => logs.map((log) => log + 1_400_000)
  const busy = { ...spread, ...counts, largest: raised(largest), smallest: raised(smallest) }
  const hour = { ...busy, median_twice: 2 * (18_420_681 + 1_400_000), at_least: 20, at_most: 20 }
  expect(scoreOf({ ...large, hour })).toMatchObject({ robust_z: 0, unusual: null })
  expect(unusual({ ...many, hour })).toBeNull()
  expect(scoreOf({ ...large, hour })?.p_value).toBeGreaterThan(10 * (scoreOf(large)?.p_value as number))
  // An hour that is usually quieter does not make an ordinary volume unusual.
  expect(unusual({ ...large, at_least: 20, at_most: 20, observed_log: 18_420_681, hour })).toBeNull()
})

test('a silence is unusual in one window, and what is not scored in none', () => {
  const silence = { is_active: false, usual_windows: 672, usual_active: 336, is_silence_read: true }
  const kinds = Array.from({ length: 60 }, (_, i) =>
    unusualOf(edgeWindow({ ...silence, longest_silences: [2, ...Array(40).fill(1)], silent_windows: i + 1 })),
  )
  expect(kinds.filter((kind) => kind !== null)).toEqual(['silence'])
  const far = { observed_log: 18_420_681 + 9_000_000, at_least: 0, tx_count: 100, tx_count_log: 4_605_170 }
  expect(unusualOf(edgeWindow(far))).toBe('surge')
  for (const unknown of [{ is_read: false }, { is_valued: false }, { observations: 9 }])
    expect(unusualOf(edgeWindow({ ...far, ...unknown })), JSON.stringify(unknown)).toBeNull()
  // Nothing to measure a distance with.
  const equal = { distance_four_times: 0, distances_twice: 0 }
  expect(unusualOf(edgeWindow({ ...equal, observed_log: 18_420_681 + 9_000_000, at_least: 0 }))).toBeNull()
})

test('where all volumes are equal another one has no robust z, but a probability; prices alone are nothing unusual', () => {
  const equal = { distance_four_times: 0, distances_twice: 0, at_least: 0, at_most: 40 }
  const reason = expect.arrayContaining(['all of its active windows had the same volume'])
  expect(scoreOf({ ...equal, at_least: 40 })).toMatchObject({ robust_z: 0, reasons: reason })
  const large = scoreOf({ ...equal, observed_log: 18_420_681 + 2_302_585 })
  expect(large).toMatchObject({ robust_z: null, reasons: reason })
  expect(large?.p_value).toBeLessThan(1e-4)
  // 2 % more.
  expect(scoreOf({ ...equal, at_least: 40, observed_log: 18_440_484 })?.p_value).toBeGreaterThan(0.01)
  // Most are equal: the fallback of the mean distance.
  expect(scoreOf({ distance_four_times: 0, observed_log: 18_420_681 + 626_657 })?.robust_z).toBeCloseTo(2, 5)
})
