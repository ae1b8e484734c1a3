import { describe, expect, test } from 'vitest'
import { movesOf } from '../../../../clickhouse/risk/extended/moves.js'
import { type ComponentName, type ExtendedInputs, extendedScore } from '../../../../clickhouse/risk/extended/score.js'
import { expectedShortfall } from '../../../../clickhouse/risk/extended/shortfall.js'
import { randomFor } from '../../../../local/chain/random.js'
import { MOVES, randomState, scoreOf } from '../../../support/extended-risk.js'

const STATES = Array.from({ length: 10_000 }, (_, i) => {
  const state = randomState(1, i)
  return { state, score: scoreOf(state) }
})

/** The example of the methodology. */
const EXAMPLE: ExtendedInputs = {
  rms_bps_24h: 12,
  shortfall_bps_24h: 18,
  has_open_mild: true,
  has_open_severe: false,
  unquoted_seconds: 0,
  mild_events_7d: 2,
  severe_events_7d: 1,
  exit_share: 0.01,
  exit_cost_bps: [2, 10, 60, 10_000],
  hhi: 2500,
  headroom_share: 0.2,
  paused: false,
  policy_type: 'blacklist',
  policy_events_7d: 3,
}
const SIZES = [1_000, 10_000, 100_000, 1_000_000]

test('the worked example of the methodology gives the documented result', () => {
  expect(extendedScore(EXAMPLE, [])).toEqual({
    score: 43.88,
    components: { peg: 39.35, breaks: 65, liquidity: 38.17, concentration: 50, issuance: 20, policy: 45 },
  })
  expect(extendedScore(EXAMPLE, ['concentration'])).toMatchObject({
    score: 43.2,
    components: { concentration: null },
  })
  const moves = movesOf(EXAMPLE, SIZES, [])
  expect(moves.get('liquidity')).toEqual({
    raised_most_by: {
      input: 'exit_share',
      event: 'nobody buys any of the sampled sizes within 50 bps',
      score: 71.5,
      score_change: 8.333,
    },
    lowered_most_by: {
      input: 'exit_share',
      event: 'a tenth of the supply can be sold within 50 bps',
      score: 21.5,
      score_change: -4.167,
    },
  })
  expect(moves.get('breaks')).toMatchObject({
    raised_most_by: { input: 'has_open_severe', score: 100, score_change: 7 },
    lowered_most_by: { input: 'has_open_mild', event: 'the mild break ends', score: 25, score_change: -8 },
  })
})

describe('never falls, and no component does,', () => {
  test.for(Object.entries(MOVES))('when %s', ([name, move]) => {
    let moved = 0
    for (const [i, { state: before, score: one }] of STATES.entries()) {
      const after = move(before, randomFor(2, name, i))
      const other = scoreOf(after)
      if (other.score > one.score) moved++
      const text = () =>
        JSON.stringify({ before, after, one, other }, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
      if (other.score < one.score) expect.fail(`${one.score} fell to ${other.score}: ${text()}`)
      for (const component of Object.keys(one.components) as ComponentName[])
        if ((other.components[component] ?? 0) < (one.components[component] ?? 0))
          expect.fail(`${component} fell: ${text()}`)
    }
    // Moves of which none has an effect would test nothing; what is known to be the worst has the score of the unknown.
    if (!name.startsWith('what was unknown')) expect(moved).toBeGreaterThan(STATES.length / 100)
  })
})

test('after any number of moves it is at least what it was', () => {
  const moves = Object.values(MOVES)
  for (let i = 0; i < 1000; i++) {
    const random = randomFor(3, 'path', i)
    let state = randomState(4, i)
    let last = scoreOf(state).score
    for (let step = 0; step < 20; step++) {
      state = random.pick(moves)(state, random)
      const { score } = scoreOf(state)
      expect(score).toBeGreaterThanOrEqual(last)
      last = score
    }
  }
})

describe('what is not known', () => {
  const names = Object.keys(EXAMPLE).filter((name) => name !== 'exit_cost_bps') as (keyof ExtendedInputs)[]

  test('counts as the worst: nothing that it may turn out to be has more points', () => {
    const candidates: Record<string, unknown[]> = {
      rms_bps_24h: [0, 1, 30, 2000],
      shortfall_bps_24h: [0, 1, 30, 2000],
      unquoted_seconds: [0, 59, 60, 1e6],
      exit_share: [0, 0.0001, 0.1, 1],
      hhi: [0.0001, 10_000],
      headroom_share: [0, 0.5, 1],
      policy_type: ['allow_all', 'reject_all', 'blacklist'],
    }
    for (const name of names) {
      const unknown = extendedScore({ ...EXAMPLE, [name]: null }, [])
      const values = candidates[name] ?? (typeof EXAMPLE[name] === 'boolean' ? [true, false] : [0, 1, 5, 1000])
      const found = values.map((value) => extendedScore({ ...EXAMPLE, [name]: value }, []).score)
      expect(Math.max(...found), name).toBe(unknown.score)
    }
  })

  test('of everything is 100', () => {
    const nothing = Object.fromEntries(names.map((name) => [name, null])) as unknown as ExtendedInputs
    expect(extendedScore({ ...nothing, exit_cost_bps: [null] }, [])).toMatchObject({ score: 100 })
    expect(extendedScore({ ...nothing, exit_cost_bps: [null] }, ['concentration'])).toMatchObject({ score: 100 })
  })
})

test('all that could be better gives 1 point, and the worst 100', () => {
  const best: ExtendedInputs = {
    rms_bps_24h: 0,
    shortfall_bps_24h: 0,
    has_open_mild: false,
    has_open_severe: false,
    unquoted_seconds: 0,
    mild_events_7d: 0,
    severe_events_7d: 0,
    exit_share: 1,
    exit_cost_bps: [-5, 0],
    hhi: 0.0001,
    headroom_share: 0,
    paused: false,
    policy_type: 'allow_all',
    policy_events_7d: 0,
  }
  expect(extendedScore(best, [])).toMatchObject({ score: 1.001, components: { concentration: 0.01, policy: 10 } })
  expect(extendedScore({ ...best, rms_bps_24h: 2000 }, []).components.peg).toBe(100)
})

test('the figures of a component’s moves are the scores after them, and of the greatest of each kind', () => {
  for (let i = 0; i < 500; i++) {
    const { inputs, sizes, score, components } = scoreOf(randomState(5, i))
    const left_out = (Object.keys(components) as ComponentName[]).filter((name) => components[name] === null)
    for (const [name, { raised_most_by, lowered_most_by }] of movesOf(inputs, sizes, left_out)) {
      expect(raised_most_by?.score_change ?? 1).toBeGreaterThan(0)
      expect(lowered_most_by?.score_change ?? -1).toBeLessThan(0)
      expect(score + (raised_most_by?.score_change ?? 0)).toBeLessThanOrEqual(100.0005)
      expect(score + (lowered_most_by?.score_change ?? 0)).toBeGreaterThanOrEqual(-0.0005)
      if (raised_most_by) expect(raised_most_by.score).toBeGreaterThan(components[name] ?? 0)
      if (lowered_most_by) expect(lowered_most_by.score).toBeLessThan(components[name] ?? 0)
    }
  }
})

test('the expected shortfall is the mean of the worst 2.5 % of the time, into however many samples that is cut', () => {
  const day = (...worst: [shortfall: number, seconds: number][]) =>
    expectedShortfall({ depth_seconds: 86_400, worst: [...worst, [0, 86_400]] })
  // The example of the methodology: 10 minutes at 0.99, 20 at 0.998, and the other 6 of the worst 36 at 1 or above.
  expect(day([10_000_000, 600], [2_000_000, 1200])).toBe(38.8889)
  expect(day([10_000_000, 7], [10_000_000, 593], [2_000_000, 1200])).toBe(38.8889)
  // More than the worst 36 minutes counts no further, and a better bid for a while does not hide them.
  expect(day([10_000_000, 2160])).toBe(100)
  expect(day([10_000_000, 80_000])).toBe(100)
})
