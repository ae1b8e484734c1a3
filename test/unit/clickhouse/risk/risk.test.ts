import { describe, expect, test } from 'vitest'
import { RATINGS, ratePolicy } from '../../../../api/stablecoins/briefings/ratings.js'
import { type ExtendedInputs, extendedScore } from '../../../../clickhouse/risk/extended/score.js'
import { headroomShare, type RiskInputs, riskScore } from '../../../../clickhouse/risk/score.js'
import type { PolicyType } from '../../../../clickhouse/stablecoins/newest-states.js'

const UNCAPPED = 340282366920938463463374607431768211455n

/** An unremarkable stable: no deviation, no event, half of its cap issued, and everyone may hold it. */
const calm: RiskInputs = {
  stddev_bps_24h: 0,
  max_deviation_bps_24h: 0,
  unquoted_share_24h: 0,
  unquoted_seconds: null,
  has_open_mild: false,
  has_open_severe: false,
  mild_events_7d: 0,
  severe_events_7d: 0,
  supply_raw: 50n,
  cap_raw: 100n,
  paused: false,
  policy_type: 'allow_all',
  policy_events_7d: 0,
}

/** Pseudorandom integers, the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * Math.max(below, 1))
  }
}

const extendedComponents = (changes: Partial<ExtendedInputs>) => {
  const { has_open_mild, has_open_severe, mild_events_7d, severe_events_7d, paused, policy_type, policy_events_7d } =
    calm
  const ofBoth = {
    has_open_mild,
    has_open_severe,
    mild_events_7d,
    severe_events_7d,
    paused,
    policy_type,
    policy_events_7d,
  }
  const peg = { rms_bps_24h: 0, shortfall_bps_24h: 0, unquoted_seconds: 0 }
  const others = { exit_share: 1, exit_cost_bps: [0], hhi: 0, headroom_share: 0.5 }
  return extendedScore({ ...ofBoth, ...peg, ...others, ...changes }, []).components
}

const score = (changes: Partial<RiskInputs>) => riskScore({ ...calm, ...changes })

test('the worked example of the methodology gives the documented result', () => {
  const inputs: Partial<RiskInputs> = {
    stddev_bps_24h: 4.2,
    max_deviation_bps_24h: 18,
    has_open_mild: true,
    mild_events_7d: 2,
    severe_events_7d: 1,
    supply_raw: 800_000_000_000n,
    cap_raw: 1_000_000_000_000n,
    policy_type: 'blacklist',
    policy_events_7d: 3,
  }
  const example = score(inputs)
  const others = { supply_risk: 20, policy_risk: 45 }
  expect(example).toEqual({ ...others, peg_risk: 35.6, peg_break_risk: 65, composite: 42.24 })
  const unquoted = score({ ...inputs, unquoted_share_24h: 0.000695, unquoted_seconds: 60 })
  expect(unquoted).toEqual({ ...others, peg_risk: 97.15, peg_break_risk: 100, composite: 77.36 })
})

test('in calm conditions only the supply and the least restrictive policy count', () => {
  expect(score({})).toEqual({ peg_risk: 0, peg_break_risk: 0, supply_risk: 50, policy_risk: 10, composite: 11 })
})

describe('peg', () => {
  // 100 (1 - e^-1) and 100 (1 - e^-0.5), to two decimals.
  test.for([
    [0, 60, 63.21],
    [30, 0, 63.21],
    [10, 10, 39.35],
    [0, 0.01, 0.02],
    [0, 1_000_000, 100],
  ] as const)('sigma %d bps and at worst %d bps give %d', ([stddev_bps_24h, max_deviation_bps_24h, peg_risk]) => {
    expect(score({ stddev_bps_24h, max_deviation_bps_24h })).toMatchObject({ peg_risk })
  })

  test('what was not measured counts as the worst', () => {
    expect(score({ unquoted_share_24h: null })).toMatchObject({ peg_risk: 100 })
  })
})

describe('without a quote', () => {
  const NEVER = { stddev_bps_24h: null, max_deviation_bps_24h: null, unquoted_share_24h: 1, unquoted_seconds: 86_400 }

  test('a stable nobody ever bid for is at the worst, and its quote counts as an open severe break', () => {
    expect(score(NEVER)).toMatchObject({ peg_risk: 100, peg_break_risk: 85 })
  })

  // s = 2 bps and d = 3 bps while quoted, so w = 200 bps; 100 (1 - e^(-(2 sigma + worst) / 60)).
  test.for([
    // As in methodology v1: 100 (1 - e^(-7 / 60)).
    [0, 11.01],
    // One second of the day: sigma = sqrt(4 x 0.999988 + 0.000012 x 40,000) = 2.117, worst = 3 + 0.01728 x 197 = 6.404.
    [0.000012, 16.25],
    // A minute: sigma = 5.639, worst = 199.988.
    [0.000694, 97.04],
    [0.1, 99.57],
    [0.5, 99.97],
  ] as const)('for a share of %d of the day gives %d', ([unquoted_share_24h, peg_risk]) => {
    expect(score({ stddev_bps_24h: 2, max_deviation_bps_24h: 3, unquoted_share_24h })).toMatchObject({ peg_risk })
  })

  test.for([
    [59, 0],
    [60, 85],
  ] as const)('for %d seconds gives %d points of peg breaks', ([unquoted_seconds, peg_break_risk]) => {
    expect(score({ unquoted_share_24h: 0.001, unquoted_seconds })).toMatchObject({ peg_break_risk })
  })

  test('a minute of the day or more is at least as bad as a day that was quoted, whose worst was 200 bps or its own', () => {
    const random = sequence(11)
    for (let i = 0; i < 2000; i++) {
      const max_deviation_bps_24h = random(60_000) / 100
      const quoted = { stddev_bps_24h: random(max_deviation_bps_24h * 100) / 100, max_deviation_bps_24h }
      const u = (695 + random(999_306)) / 1e6
      const worst = Math.max(200, max_deviation_bps_24h)
      const unquoted = score({ ...quoted, unquoted_share_24h: u }).peg_risk
      expect(unquoted).toBeGreaterThanOrEqual(score({ ...quoted, max_deviation_bps_24h: worst }).peg_risk)
    }
  })

  test('more time never lowers the score, and one more block of a day raises it by little', () => {
    const random = sequence(7)
    for (let i = 0; i < 300; i++) {
      const max_deviation_bps_24h = random(30_000) / 100
      const quoted = { stddev_bps_24h: random(max_deviation_bps_24h * 100) / 100, max_deviation_bps_24h }
      const at = (ppm: number) => score({ ...quoted, unquoted_share_24h: ppm / 1e6, unquoted_seconds: ppm / 1000 })
      let ppm = 0
      let last = at(0)
      expect(last).toEqual(score(quoted))
      expect(at(12).peg_risk - last.peg_risk).toBeLessThan(12)
      while (ppm < 1_000_000) {
        ppm = Math.min(ppm + 1 + random(2 * ppm + 10), 1_000_000)
        const next = at(ppm)
        expect(next.peg_risk).toBeGreaterThanOrEqual(last.peg_risk)
        expect(next.composite).toBeGreaterThanOrEqual(last.composite)
        last = next
      }
      expect(last.peg_risk).toBe(100)
    }
  })
})

describe('peg breaks', () => {
  test.for([
    [{ has_open_mild: true, mild_events_7d: 1 }, 45],
    [{ has_open_severe: true, severe_events_7d: 1 }, 85],
    // In a severe break both severities are open: only the severe one counts as open, but each is an event.
    [{ has_open_mild: true, has_open_severe: true, mild_events_7d: 1, severe_events_7d: 1 }, 90],
    [{ mild_events_7d: 3 }, 15],
    [{ severe_events_7d: 3 }, 45],
    [{ severe_events_7d: 7 }, 100],
  ] as const)('%o gives %d', ([changes, peg_break_risk]) => {
    expect(score(changes)).toMatchObject({ peg_break_risk })
  })
})

describe('supply', () => {
  test.for([
    [0n, UNCAPPED, 100],
    [10n ** 30n, UNCAPPED, 100],
    [0n, 100n, 100],
    [90n, 100n, 10],
    [100n, 100n, 0],
    [200n, 100n, 0],
    [0n, 0n, 0],
    [null, null, 100],
  ] as const)('%s of %s gives %d', ([supply_raw, cap_raw, supply_risk]) => {
    expect(score({ supply_raw, cap_raw })).toMatchObject({ supply_risk })
  })
})

describe('policy', () => {
  test.for<[PolicyType | null, number]>([
    ['allow_all', 10],
    ['blacklist', 30],
    ['whitelist', 40],
    ['compound', 50],
    ['reject_all', 100],
    [null, 100],
  ])('%s gives %d, plus 5 for each event, and 100 when paused', ([policy_type, policy_risk]) => {
    expect(score({ policy_type })).toMatchObject({ policy_risk })
    const more = Math.min(policy_risk + 10, 100)
    expect(score({ policy_type, policy_events_7d: 2 })).toMatchObject({ policy_risk: more })
    if (policy_type) expect(score({ policy_type, paused: true })).toMatchObject({ policy_risk: 100 })
  })
})

test('what is riskier is the same in the composite, in extended risk and in the ratings of briefings', () => {
  const types: PolicyType[] = ['allow_all', 'blacklist', 'whitelist', 'compound', 'reject_all', 'unknown']
  const ofType = types.map((policy_type) => ({
    composite: score({ policy_type }).policy_risk,
    extended: extendedComponents({ policy_type }).policy,
    rating: RATINGS.indexOf(
      ratePolicy({ type: policy_type, policy_id: '4', policy_admin: null, paused: false }).rating,
    ),
  }))
  for (const [i, points] of ofType.entries())
    for (const before of ofType.slice(0, i)) {
      expect(points.composite).toBeGreaterThanOrEqual(before.composite)
      expect(points.extended).toBe(points.composite)
      expect(points.rating).toBeGreaterThanOrEqual(before.rating)
    }
  // A higher cap, and none at all: more can be minted.
  const caps = [100n, 101n, 200n, 10n ** 9n, UNCAPPED]
  const ofCaps = caps.map((cap_raw) => [
    score({ supply_raw: 100n, cap_raw }).supply_risk,
    extendedComponents({ headroom_share: headroomShare(100n, cap_raw) }).issuance ?? -1,
  ])
  for (const [i, [composite = 0, issuance]] of ofCaps.entries()) {
    expect(issuance).toBe(composite)
    expect(composite).toBeGreaterThanOrEqual(ofCaps[i - 1]?.[0] ?? 0)
  }
  expect(ofCaps.map(([points]) => points)).toEqual([0, 0.99, 50, 100, 100])
})

test('the composite is the weighted sum of the published components, and at most 100', () => {
  const next = sequence(5)
  for (let i = 0; i < 1000; i++) {
    const { composite, peg_risk, peg_break_risk, supply_risk, policy_risk } = score({
      stddev_bps_24h: next(400_000) / 1e4,
      max_deviation_bps_24h: next(20_000) / 100,
      mild_events_7d: next(9),
      severe_events_7d: next(4),
      has_open_mild: next(2) === 1,
      supply_raw: BigInt(next(1000)),
      cap_raw: 1000n,
      policy_events_7d: next(10),
    })
    const sum = 0.4 * peg_risk + 0.3 * peg_break_risk + 0.2 * supply_risk + 0.1 * policy_risk
    expect(composite).toBe(Number(sum.toFixed(3)))
    expect(composite).toBeLessThanOrEqual(100)
  }
})
