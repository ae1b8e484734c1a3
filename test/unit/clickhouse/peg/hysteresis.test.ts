import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BreakFinder,
  type BreakRule,
  FinderState,
  type FoundBreak,
  UNQUOTED,
} from '../../../../clickhouse/peg/hysteresis.js'
import { pegEventsOracle } from '../../../../oracle/peg-events.js'

type Sample = { time: number; deviation: number }

const PLAIN: BreakRule = {
  enter_bps: 10,
  exit_bps: 10,
  min_seconds: 300,
  tau_seconds: 0,
  baseline_seconds: 0,
  unquoted_seconds: null,
}

function find(rule: Partial<BreakRule>, samples: readonly Sample[]): FoundBreak[] {
  const finder = new BreakFinder({ ...PLAIN, ...rule })
  for (const [block, { time, deviation }] of samples.entries()) finder.add(time, block, deviation)
  return finder.found()
}

const samplesOf = fc
  .array(
    fc.record({
      after: fc.constantFrom(0, 1, 1, 20, 60, 200, 900),
      deviation: fc.constantFrom(UNQUOTED, 0, 300, 700, 999, 1000, 1001, -1400, -3000, 5000, -5001, 9000),
    }),
    { maxLength: 80, size: 'max' },
  )
  .map((steps) => {
    let time = 1_700_000_000
    return steps.map(({ after, deviation }) => {
      time += after
      return { time, deviation }
    })
  })

/** The average at the sample `upTo`, of prices that hold for at most two minutes each, as the definition has it. */
function average(samples: readonly Sample[], upTo: number, tau: number): number {
  if (tau === 0) return (samples[upTo] as Sample).deviation
  const until = samples.slice(0, upTo + 1)
  const first = until.find(({ deviation }) => deviation !== UNQUOTED) as Sample
  // The first price has all of the past. Time without a price is no time.
  const held = until.map(({ time, deviation }, i) => ({
    deviation,
    seconds: deviation === UNQUOTED ? 0 : Math.min(120, (until[i + 1]?.time ?? time) - time),
  }))
  let [sum, weight] = [0, 1]
  for (const { deviation, seconds } of held.toReversed()) {
    sum += weight * (1 - Math.exp(-seconds / tau)) * deviation
    weight *= Math.exp(-seconds / tau)
  }
  return sum + weight * first.deviation
}

/** The breaks by deviation, from the definition: each sample's state from all samples before it. */
function definition(rule: BreakRule, all: readonly Sample[]) {
  const samples = all.filter(({ deviation }) => deviation !== UNQUOTED)
  const blockOf = (i: number): number => all.indexOf(samples[i] as Sample)
  const distances = samples.map((_, i) => {
    const base = rule.baseline_seconds > 0 ? average(all, blockOf(i), rule.baseline_seconds) : 0
    return average(all, blockOf(i), rule.tau_seconds) - base
  })
  const found = []
  for (let i = 0; i < samples.length; i++) {
    if (Math.abs(distances[i] as number) <= rule.enter_bps * 100) continue
    const end = distances.findIndex((distance, j) => j > i && Math.abs(distance) <= rule.exit_bps * 100)
    const until = end < 0 ? samples.length - 1 : end
    const start = (samples[i] as Sample).time
    const confirmed = samples.slice(i, until + 1).find(({ time }) => time - start >= rule.min_seconds)
    if (confirmed) {
      const ended_at = end < 0 ? null : (samples[end] as Sample).time
      const blocks = { started_block: blockOf(i), ended_block: end < 0 ? null : blockOf(end) }
      found.push({ started_at: start, confirmed_at: confirmed.time, ended_at, ...blocks })
    }
    i = until
  }
  return found
}

test('with one limit and no smoothing it finds the published events', () => {
  fc.assert(
    fc.property(samplesOf, (samples) => {
      const asOf = samples.at(-1)?.time ?? 0
      const published = pegEventsOracle(
        samples.map(({ time, deviation }, i) => ({
          block_time: time,
          block_number: i,
          sell_micros: deviation === UNQUOTED ? null : 1_000_000 + deviation,
        })),
        asOf,
      )
      const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
      for (const [severity, rule] of [
        ['mild', {}],
        ['severe', { enter_bps: 50, exit_bps: 50, min_seconds: 60 }],
      ] as const) {
        const found = find(rule, samples).map(({ started_at, ended_at, ...event }) => ({
          started_at: iso(started_at),
          ended_at: ended_at === null ? null : iso(ended_at),
          started_block: event.started_block,
          ended_block: event.ended_block,
          max_deviation_bps: event.max_deviation_bps,
        }))
        const expected = published
          .filter((event) => event.severity === severity)
          .map(({ started_at, ended_at, started_block, ended_block, max_deviation_bps }) => ({
            ...{ started_at, ended_at, started_block, ended_block, max_deviation_bps },
          }))
        expect(found).toEqual(expected.reverse())
      }
    }),
  )
})

test('with hysteresis, smoothing and a baseline it finds what the definition says', () => {
  // No average of the samples is at a limit, where rounding would decide. Limits that are met are in the test above.
  const rules = fc.record({
    enter_bps: fc.constantFrom(6.037, 10.037, 30.037),
    share: fc.constantFrom(0.3, 0.7, 1),
    min_seconds: fc.constantFrom(0, 60, 300),
    tau_seconds: fc.constantFrom(0, 7, 45, 600),
    baseline_seconds: fc.constantFrom(0, 0, 5000),
  })
  fc.assert(
    fc.property(rules, samplesOf, ({ share, ...rule }, samples) => {
      const whole = { ...PLAIN, ...rule, exit_bps: rule.enter_bps * share }
      const found = find(whole, samples).map(({ started_at, confirmed_at, ended_at, started_block, ended_block }) => ({
        ...{ started_at, confirmed_at, ended_at, started_block, ended_block },
      }))
      expect(found).toEqual(definition(whole, samples))
    }),
    { numRuns: 300 },
  )
})

test('a history that is cut at any block, and continued from a stored state, has the same breaks', () => {
  const rules = fc.record({
    share: fc.constantFrom(0.5, 1),
    min_seconds: fc.constantFrom(0, 60, 300),
    tau_seconds: fc.constantFrom(0, 30, 600),
    baseline_seconds: fc.constantFrom(0, 5000),
    unquoted_seconds: fc.constantFrom(null, 0, 120),
  })
  let [kept, inProgress] = [0, 0]
  fc.assert(
    fc.property(rules, samplesOf, ({ share, ...changes }, samples) => {
      const rule = { ...PLAIN, ...changes, exit_bps: PLAIN.enter_bps * share }
      const whole = find(rule, samples)
      for (let cut = 0; cut <= samples.length; cut++) {
        const first = new BreakFinder(rule)
        for (const [i, { time, deviation }] of samples.slice(0, cut).entries()) first.add(time, i, deviation)
        const stored = JSON.stringify(first.state)
        const second = new BreakFinder(rule, FinderState.parse(JSON.parse(stored)))
        for (const [i, { time, deviation }] of samples.slice(cut).entries()) second.add(time, cut + i, deviation)
        const before = first.found().filter(({ ended_at }) => ended_at !== null)
        const key = ({ kind, started_block }: FoundBreak): string => `${kind} ${started_block}`
        const byKey = (a: FoundBreak, b: FoundBreak): number => key(a).localeCompare(key(b))
        expect([...before, ...second.found()].sort(byKey), `cut at ${cut}`).toEqual(whole.toSorted(byKey))
        kept += before.length
        if (FinderState.parse(JSON.parse(stored)).deviation) inProgress++
      }
    }),
  )
  expect(kept).toBeGreaterThan(1000)
  expect(inProgress).toBeGreaterThan(1000)
})

test('a price that swings about the limit is one break with hysteresis, and many without', () => {
  const samples = Array.from({ length: 40 }, (_, i) => ({ time: i * 60, deviation: i > 30 ? 0 : i % 2 ? 900 : 1100 }))
  expect(find({ min_seconds: 0 }, samples)).toHaveLength(16)
  expect(find({ min_seconds: 0, exit_bps: 7 }, samples)).toEqual([
    {
      kind: 'deviation',
      direction: 'above',
      started_at: 0,
      started_block: 0,
      confirmed_at: 0,
      ended_at: 31 * 60,
      ended_block: 31,
      max_deviation_bps: 11,
      seen: { first_at: 0, first_block: 0, inside_at: null, inside_block: null },
    },
  ])
})

test('an order that is pulled for one block is a break without smoothing only', () => {
  const samples = Array.from({ length: 60 }, (_, i) => ({ time: i, deviation: i === 30 ? -9000 : 0 }))
  expect(find({ min_seconds: 0 }, samples)).toHaveLength(1)
  expect(find({ min_seconds: 0, tau_seconds: 30 }, samples)).toEqual([])
})

test('a price counts for the time that it held, so the same path of prices is the same break at any pace of blocks', () => {
  // 20 seconds of a price 60 bps below the peg, then a recovery: with a block a second, two, or one at each change only.
  const path = (time: number): number => (time < 30 || time >= 50 ? 0 : -6000)
  for (const step of [1, 2, 5, 10]) {
    const samples = Array.from({ length: 200 / step }, (_, i) => ({ time: i * step, deviation: path(i * step) }))
    const [found] = find({ enter_bps: 10, exit_bps: 7, min_seconds: 0, tau_seconds: 30 }, samples)
    expect(found, `${step}`).toMatchObject({ kind: 'deviation', max_deviation_bps: 60 })
    // It is outside once 1 - exp(-t / 30) > 1 / 6, after 5.5 s, at the next block.
    expect(found?.started_at, `${step}`).toBe(30 + Math.ceil(5.47 / step) * step)
  }
  const brief = [0, -6000, 0, 0].map((deviation, i) => ({ time: [0, 60, 61, 200][i] as number, deviation }))
  expect(find({ min_seconds: 0, tau_seconds: 30 }, brief)).toEqual([])
})

test('time without a quote is a break of its own, and neither begins nor ends a deviation', () => {
  const price = (time: number, deviation: number) => ({ time, deviation })
  const samples = [
    price(0, 0),
    price(60, -2000),
    price(120, UNQUOTED),
    price(500, UNQUOTED),
    price(560, -2100),
    price(620, 0),
  ]
  expect(find({ unquoted_seconds: 300 }, samples)).toEqual([
    {
      kind: 'deviation',
      direction: 'below',
      started_at: 60,
      started_block: 1,
      confirmed_at: 560,
      ended_at: 620,
      ended_block: 5,
      max_deviation_bps: 21,
      seen: { first_at: 0, first_block: 0, inside_at: 0, inside_block: 0 },
    },
    {
      kind: 'unquoted',
      direction: null,
      started_at: 120,
      started_block: 2,
      confirmed_at: 500,
      ended_at: 560,
      ended_block: 4,
      max_deviation_bps: null,
      seen: { first_at: 0, first_block: 0, inside_at: 0, inside_block: 0 },
    },
  ])
  expect(find({ unquoted_seconds: null }, samples)).toHaveLength(1)
  // Before its first quote a stable has none to lose.
  expect(find({ unquoted_seconds: 300 }, [price(-900, UNQUOTED), price(-300, UNQUOTED), price(0, 0)])).toEqual([])
  // One that has not ended is in progress.
  expect(find({ unquoted_seconds: 300 }, samples.slice(0, 4))).toMatchObject([{ kind: 'unquoted', ended_at: null }])
})
