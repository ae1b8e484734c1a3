import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addSums, type PegSums, SUM_NAMES, SumRows, sumsOver } from '../../../../clickhouse/peg/sums.js'

const sample = fc.record({
  sell_micros: fc.option(fc.integer({ min: 500_000, max: 2_000_000 }), { freq: 4 }),
  seconds: fc.integer({ min: 0, max: 120 }),
})
type Sample = { sell_micros: number | null; seconds: number }

/** The sums by their definitions. */
function expected(samples: readonly Sample[]): PegSums {
  const quoted = samples.flatMap(({ sell_micros, seconds }) =>
    sell_micros === null ? [] : [{ deviation: sell_micros - 1_000_000, seconds }],
  )
  const deviations = quoted.map(({ deviation }) => deviation)
  const outside = (allowed: number): bigint =>
    quoted.reduce((sum, { deviation, seconds }) => sum + (Math.abs(deviation) > allowed ? BigInt(seconds) : 0n), 0n)
  return {
    quoted_count: BigInt(quoted.length),
    unquoted_count: BigInt(samples.length - quoted.length),
    deviation_sum: deviations.reduce((sum, deviation) => sum + BigInt(deviation), 0n),
    deviation_square_sum: deviations.reduce((sum, deviation) => sum + BigInt(deviation) ** 2n, 0n),
    deviation_min: deviations.length === 0 ? null : Math.min(...deviations),
    deviation_max: deviations.length === 0 ? null : Math.max(...deviations),
    seconds_outside_10bps: outside(1000),
    seconds_outside_50bps: outside(5000),
  }
}

test('the sums over samples are those of the definitions, and of their parts', () => {
  fc.assert(
    fc.property(fc.array(fc.array(sample)), (parts) => {
      expect(sumsOver(parts.flat())).toEqual(expected(parts.flat()))
      expect(addSums(parts.map(sumsOver))).toEqual(expected(parts.flat()))
    }),
  )
})

test('rows have the sums of what was added to them', () => {
  const states = fc.array(fc.tuple(fc.nat(9), fc.array(sample)))
  fc.assert(
    fc.property(states, fc.nat(9), fc.nat(9), (states, first, last) => {
      const rows = new SumRows(10)
      const sums = states.map(([, samples]) => sumsOver(samples))
      const columns = SUM_NAMES.map((name) => sums.map((row) => (row[name] === null ? null : Number(row[name]))))
      for (const [index, [row]] of states.entries()) rows.add(row, columns, index)
      const inside = states.filter(([row]) => row >= first && row <= last).flatMap(([, samples]) => samples)
      expect(rows.sums(first, last)).toEqual(expected(inside))
    }),
  )
})

test('sums above 2^53 have all their digits', () => {
  const samples = Array.from({ length: 20_001 }, (_, i) => ({ sell_micros: 2_000_000 - (i % 2), seconds: 120 }))
  expect(sumsOver(samples)).toEqual(expected(samples))
  const rows = new SumRows(samples.length)
  const sums = samples.map((sample) => sumsOver([sample]))
  const columns = SUM_NAMES.map((name) => sums.map((row) => Number(row[name])))
  for (const index of samples.keys()) rows.add(index, columns, index)
  expect(rows.sums(0, samples.length - 1)).toEqual(expected(samples))
})
