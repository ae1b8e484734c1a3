import { z } from 'zod'
import { integerText } from '../store/values.js'

/**
 * The allowed distance of a price from 1, in millionths, for 10 and for 50 basis points. A price at the limit is
 * inside.
 */
export const ALLOWED_MICROS = { '10bps': 1000, '50bps': 5000 } as const

/** The deviation of a sample from 1, in millionths; null without a quote. */
export const DEVIATION = 'toInt64(sell_micros) - 1000000'

/**
 * The block of the last quoted sample and its deviation, of samples with a `deviation`; (0, 0) without one. Of minute
 * states it is the largest of them.
 */
export const LAST_QUOTED =
  'maxIf((block_number, toInt32(assumeNotNull(deviation))), sell_micros IS NOT NULL) AS last_quoted'

/** The end of the minute that a sample counts in: a sample represents the time before it. */
export const MINUTE_END = 'toStartOfMinute(block_time + 59)'

type Sum = {
  /** How those of two parts become that of both. */
  merge: 'sum' | 'min' | 'max'
  /** In SQL over samples with a `deviation`: `quote` is null without a quote, `seconds` are those that a sample represents. */
  sql: (sample: { quote: string; seconds: string }) => string
}

const secondsOutside = (allowed: number) =>
  ({ merge: 'sum', sql: ({ seconds }) => `sumIf(${seconds}, abs(deviation) > ${allowed})` }) as const satisfies Sum

/**
 * The sums over samples, in the order of their columns in peg_minutes and peg_windows. All published figures of windows and
 * buckets are computed from these. The views peg_minutes_mv and peg_windows_at have the
 * same ones; a test compares them.
 */
const SUMS = {
  quoted_count: { merge: 'sum', sql: ({ quote }) => `count(${quote})` },
  unquoted_count: { merge: 'sum', sql: ({ quote }) => `countIf(${quote} IS NULL)` },
  deviation_sum: { merge: 'sum', sql: () => 'ifNull(sum(deviation), 0)' },
  deviation_square_sum: { merge: 'sum', sql: () => 'ifNull(sum(toUInt64(deviation * deviation)), 0)' },
  deviation_min: { merge: 'min', sql: () => 'toInt32(min(deviation))' },
  deviation_max: { merge: 'max', sql: () => 'toInt32(max(deviation))' },
  seconds_outside_10bps: secondsOutside(ALLOWED_MICROS['10bps']),
  seconds_outside_50bps: secondsOutside(ALLOWED_MICROS['50bps']),
} as const satisfies Record<string, Sum>

export type SumName = keyof typeof SUMS
/** The sums that are added up; the others are extremes. */
type AddedName = { [Name in SumName]: (typeof SUMS)[Name]['merge'] extends 'sum' ? Name : never }[SumName]
type ExtremeName = Exclude<SumName, AddedName>

/** Integers; deviations are from 1, in millionths. The extremes are null without a quoted sample. */
export type PegSums = Record<AddedName, bigint> & Record<ExtremeName, number | null>

export const SUM_NAMES = Object.keys(SUMS) as SumName[]
const isAdded = (name: SumName): name is AddedName => SUMS[name].merge === 'sum'
export const ADDED_NAMES = SUM_NAMES.filter(isAdded)

/** An added one and an extreme, under the name of each sum. */
export const bySum = <Added, Extreme>(
  added: (name: AddedName) => Added,
  extreme: (name: ExtremeName) => Extreme,
): Record<AddedName, Added> & Record<ExtremeName, Extreme> =>
  Object.fromEntries(
    SUM_NAMES.map((name) => [name, isAdded(name) ? added(name) : extreme(name as ExtremeName)]),
  ) as Record<AddedName, Added> & Record<ExtremeName, Extreme>

type SumsSql = Record<SumName, string>

/** The sums over samples, each with its `deviation`. */
export function sampleSums(sample = { quote: 'deviation', seconds: 'seconds' }): SumsSql {
  const sql = (name: SumName): string => SUMS[name].sql(sample)
  return bySum(sql, sql)
}

const merged = (name: SumName): string => `${SUMS[name].merge}(${name})`
/**
 * The sums over whole minutes, from the states in peg_minutes; bit-identical to the sums over the samples of those
 * minutes.
 */
export const MINUTE_SUMS: SumsSql = bySum(merged, merged)

/** The sums over no samples. */
export const NO_SUMS: SumsSql = bySum(
  () => '0',
  () => 'NULL',
)

/** The sums as a SELECT list, each under the name of its column. */
export const selected = (sums: SumsSql): string =>
  Object.entries(sums)
    .map(([column, sum]) => `${sum} AS ${column}`)
    .join(', ')

// A sum over nothing but nulls is null in SQL.
const addedColumn = integerText.nullable().transform((text) => BigInt(text ?? 0))
const extremeColumn = z.coerce.number().int().nullable()
/** The columns of a row with the sums. */
export const SUM_COLUMNS = bySum(
  () => addedColumn,
  () => extremeColumn,
)

const extreme = (pick: (a: number, b: number) => number, a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : pick(a, b)

/** The sums of all `parts`; for no parts, the sums over no samples. */
export function addSums(parts: readonly PegSums[]): PegSums {
  const none: PegSums = bySum(
    () => 0n,
    () => null,
  )
  return parts.reduce<PegSums>(
    (a, b) => ({
      quoted_count: a.quoted_count + b.quoted_count,
      unquoted_count: a.unquoted_count + b.unquoted_count,
      deviation_sum: a.deviation_sum + b.deviation_sum,
      deviation_square_sum: a.deviation_square_sum + b.deviation_square_sum,
      deviation_min: extreme(Math.min, a.deviation_min, b.deviation_min),
      deviation_max: extreme(Math.max, a.deviation_max, b.deviation_max),
      seconds_outside_10bps: a.seconds_outside_10bps + b.seconds_outside_10bps,
      seconds_outside_50bps: a.seconds_outside_50bps + b.seconds_outside_50bps,
    }),
    none,
  )
}

/** A sample with the seconds that it represents. */
type Sample = { sell_micros: number | null; seconds: number }

/** The squares of so many deviations, which are at most 10^6, sum up to less than 2^53. */
const MOST_EXACT = 9_000

/** The sums over samples. */
export function sumsOver(samples: readonly Sample[]): PegSums {
  if (samples.length > MOST_EXACT)
    return addSums([sumsOver(samples.slice(0, MOST_EXACT)), sumsOver(samples.slice(MOST_EXACT))])
  const sums = {
    quoted_count: 0,
    unquoted_count: 0,
    deviation_sum: 0,
    deviation_square_sum: 0,
    deviation_min: Number.POSITIVE_INFINITY,
    deviation_max: Number.NEGATIVE_INFINITY,
    seconds_outside_10bps: 0,
    seconds_outside_50bps: 0,
  } satisfies Record<SumName, number>
  for (const { sell_micros, seconds } of samples) {
    if (sell_micros === null) {
      sums.unquoted_count += 1
      continue
    }
    const deviation = sell_micros - 1_000_000
    sums.quoted_count += 1
    sums.deviation_sum += deviation
    sums.deviation_square_sum += deviation * deviation
    sums.deviation_min = Math.min(sums.deviation_min, deviation)
    sums.deviation_max = Math.max(sums.deviation_max, deviation)
    if (Math.abs(deviation) > ALLOWED_MICROS['10bps']) sums.seconds_outside_10bps += seconds
    if (Math.abs(deviation) > ALLOWED_MICROS['50bps']) sums.seconds_outside_50bps += seconds
  }
  return bySum(
    (name) => BigInt(sums[name]),
    (name) => finite(sums[name]),
  )
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

const MERGES = SUM_NAMES.map((name) => SUMS[name].merge)
/** What merges with any value to that value. */
const NONE = { sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
const WIDTH = SUM_NAMES.length
/** What a row of SumRows takes in memory, in bytes. */
export const SUM_ROW_BYTES = WIDTH * Float64Array.BYTES_PER_ELEMENT

/** Rows of sums that are below 2^53 each, as those of a minute are. */
export class SumRows {
  /** The rows one after another, each by SUM_NAMES. */
  readonly #values: Float64Array

  constructor(rows: number) {
    this.#values = new Float64Array(rows * WIDTH)
    for (let row = 0; row < rows; row++)
      this.#values.set(
        MERGES.map((merge) => NONE[merge]),
        row * WIDTH,
      )
  }

  /** Adds to the sums of a row those that `columns`, by SUM_NAMES, have at `index`. */
  add(row: number, columns: readonly (readonly (number | null)[])[], index: number): void {
    for (let column = 0; column < WIDTH; column++) {
      const value = columns[column]?.[index] ?? null
      if (value === null) continue
      const at = row * WIDTH + column
      const before = this.#values[at] as number
      const merge = MERGES[column] as Sum['merge']
      this.#values[at] = merge === 'sum' ? before + value : Math[merge](before, value)
    }
  }

  /** The sums of the rows from `first` to `last`, both included. */
  sums(first: number, last: number): PegSums {
    return bySum(
      (name) => this.#added(SUM_NAMES.indexOf(name), first, last),
      (name) => this.#extreme(SUM_NAMES.indexOf(name), SUMS[name].merge, first, last),
    )
  }

  /** Exact, however large. */
  #added(column: number, first: number, last: number): bigint {
    let [whole, sum] = [0n, 0]
    for (let row = first; row <= last; row++) {
      const value = this.#values[row * WIDTH + column] as number
      if (Number.isSafeInteger(sum + value)) sum += value
      else {
        whole += BigInt(sum)
        sum = value
      }
    }
    return whole + BigInt(sum)
  }

  #extreme(column: number, merge: 'min' | 'max', first: number, last: number): number | null {
    const pick = Math[merge]
    let best = NONE[merge]
    for (let row = first; row <= last; row++) best = pick(best, this.#values[row * WIDTH + column] as number)
    return finite(best)
  }
}
