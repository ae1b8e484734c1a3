import { expect, test } from 'vitest'
import { edgeScores } from '../../../../clickhouse/flows/edge-scores.js'
import type { EdgeWindow } from '../../../../clickhouse/flows/edge-windows.js'
import { studentQuantile, studentTail } from '../../../../clickhouse/flows/student-t.js'
import { randomFor } from '../../../../local/chain/random.js'

const NOON = new Date('2026-07-01T12:00:00Z')

const edgeWindow = (changes: Partial<EdgeWindow> = {}): EdgeWindow => ({
  from: 'A',
  to: 'B',
  from_address: '0xa',
  to_address: '0xb',
  observed_micros: '100000000',
  observed_log: 18_420_681,
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
  hour_windows: 0,
  hour_active: 0,
  silent_windows: 0,
  longest_silence: 0,
  usual_windows: 0,
  usual_active: 0,
  is_silence_read: false,
  ...changes,
})

const scoreOf = (changes: Partial<EdgeWindow>) => edgeScores([edgeWindow(changes)], NOON)[0]

test('the tails and the 97.5 % points of Student’s t are those of the tables', () => {
  for (const [freedom, point] of [
    [9, 2.262157],
    [10, 2.228139],
    [30, 2.042272],
    [120, 1.97993],
  ] as const)
    expect(studentQuantile(freedom), `${freedom}`).toBeCloseTo(point, 5)
  for (const [t, freedom, tail] of [
    [2.763769, 10, 0.01],
    [3.645959, 30, 0.0005],
    [-2.763769, 10, 0.99],
    [0, 7, 0.5],
  ] as const)
    expect(studentTail(t, freedom), `${t}`).toBeCloseTo(tail, 7)
})

test('of ordinary windows, a share of at most p has a p-value of p or less, on dense and on sparse edges', () => {
  const random = randomFor(18, 'calibration')
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const middleTwice = (sorted: readonly number[]) =>
    (sorted[Math.ceil(sorted.length / 2) - 1] as number) + (sorted[Math.floor(sorted.length / 2)] as number)
  const ascending = (a: number, b: number) => a - b
  for (const [share, observations] of [
    [0.03, 20],
    [0.3, 40],
    [1, 120],
  ] as const) {
    const ROUNDS = 4000
    const found = new Map([0.2, 0.05, 0.01, 0.002].map((p) => [p, 0]))
    for (let round = 0; round < ROUNDS; round++) {
      // A window without a flow is judged as a silence, which is not the subject here.
      if (!random.chance(share)) continue
      const logs = Array.from({ length: observations }, () => Math.round(18e6 + 1e6 * normal()))
      const observed_log = Math.round(18e6 + 1e6 * normal())
      const median_twice = middleTwice(logs.sort(ascending))
      const distances = logs.map((log) => Math.abs(2 * log - median_twice)).sort(ascending)
      const score = scoreOf({
        observed_log,
        median_twice,
        observations,
        baseline_windows: Math.round(observations / share),
        distance_four_times: middleTwice(distances),
        distances_twice: distances.reduce((sum, distance) => sum + distance, 0),
        at_least: logs.filter((log) => log >= observed_log).length,
        at_most: logs.filter((log) => log <= observed_log).length,
      })
      for (const [p, times] of found) if ((score?.p_value ?? 1) <= p) found.set(p, times + 1)
    }
    // Three standard errors of the count.
    for (const [p, times] of found) expect(times, `${share}, ${p}`).toBeLessThan(ROUNDS * p + 3 * Math.sqrt(ROUNDS * p))
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
  const silence = { is_active: false, silent_windows: 3, usual_windows: 672, usual_active: 336 }
  expect(scoreOf({ ...silence, longest_silence: 3, is_silence_read: true })).toMatchObject({ p_value: 1 })
  expect(scoreOf({ ...silence, longest_silence: 3 })).toMatchObject({ p_value: null, silent_windows: null })
  expect(scoreOf({ ...silence, longest_silence: 2, is_silence_read: true })).toMatchObject({
    p_value: 0.25,
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

test('where all volumes are equal another one has no robust z, but a probability; prices alone are nothing unusual', () => {
  const equal = { distance_four_times: 0, distances_twice: 0, at_least: 0, at_most: 40 }
  const reason = expect.arrayContaining(['all of its active windows had the same volume'])
  expect(scoreOf({ ...equal, at_least: 40 })).toMatchObject({ robust_z: 0, reasons: reason })
  const large = scoreOf({ ...equal, observed_log: 18_420_681 + 2_302_585 })
  expect(large).toMatchObject({ robust_z: null, reasons: reason })
  expect(large?.p_value).toBeLessThan(1e-9)
  // 2 % more.
  expect(scoreOf({ ...equal, observed_log: 18_440_484 })?.p_value).toBeGreaterThan(0.01)
  // Most are equal: the fallback of the mean distance.
  expect(scoreOf({ distance_four_times: 0, observed_log: 18_420_681 + 626_657 })?.robust_z).toBeCloseTo(2, 5)
})
