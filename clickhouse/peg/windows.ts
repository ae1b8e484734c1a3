import { z } from 'zod'
import { DAY_SECONDS, HOUR_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { keptWhile } from '../store/read-memory.js'
import { byStable, together } from '../store/together.js'
import { dateTime } from '../store/values.js'
import { type PegSums, SUM_COLUMNS, SUM_NAMES, sumsOver } from './sums.js'

/**
 * The published windows, shortest first. Reads and answers, their coverage, limits and caches follow from these rows. Every
 * length is whole hours, as the reads rely on.
 */
export const PEG_WINDOWS = [
  { window: '1h', seconds: HOUR_SECONDS, period: 'hour' },
  { window: '24h', seconds: DAY_SECONDS, period: 'day' },
  { window: '7d', seconds: WEEK_SECONDS, period: 'week' },
] as const

type PegWindow = (typeof PEG_WINDOWS)[number]

/** A value for each window. */
export type ByPegWindow<Value> = Record<PegWindow['window'], Value>

/** What `make` returns for each window, given its row and its place in PEG_WINDOWS. */
export const byPegWindow = <Value>(make: (row: PegWindow, index: number) => Value): ByPegWindow<Value> =>
  Object.fromEntries(PEG_WINDOWS.map((row, index) => [row.window, make(row, index)])) as ByPegWindow<Value>

/** The schema of an array that has a value for each of PEG_WINDOWS, in their order. Parses to the values by window. */
export const inWindowOrder = <Value extends z.ZodType>(value: Value) =>
  z
    .array(value)
    .length(PEG_WINDOWS.length)
    .transform((values) => byPegWindow((_, index) => values[index] as z.output<Value>))

/** The lengths of the windows in seconds. */
export const PEG_WINDOW_SECONDS = byPegWindow(({ seconds }) => seconds)

/** How far the windows reach back, in seconds. */
export const LONGEST_PEG_WINDOW = Math.max(...PEG_WINDOWS.map(({ seconds }) => seconds))

/**
 * The minutes at the edges of a window, which are summed from their samples: the last two, since the window may end
 * within a minute, and the first three, since a sample represents up to 120 s before it.
 */
const LAST_MINUTES = 2
const FIRST_MINUTES = 3

/** The ends of the minutes that a window includes whole are in (after, until]; `lastMinute` is the end of its last minute. */
export const wholeMinutes = (seconds: number, lastMinute: number): { after: number; until: number } => ({
  after: lastMinute - seconds + (FIRST_MINUTES - 1) * 60,
  until: lastMinute - LAST_MINUTES * 60,
})

/** The ends of the minutes at the edges of all windows, in unix seconds; `lastMinute` is the end of the last minute. */
export function edgeMinuteEnds(lastMinute: number): number[] {
  const last = Array.from({ length: LAST_MINUTES }, (_, minute) => minute * 60)
  const first = PEG_WINDOWS.flatMap(({ seconds }) =>
    Array.from({ length: FIRST_MINUTES }, (_, minute) => seconds - minute * 60),
  )
  return [...last, ...first].map((seconds) => lastMinute - seconds)
}

/** Whether a sample of this age lies at an edge of the window that is `seconds` long. */
export const isEdge = (age: number, seconds: number): boolean =>
  age < LAST_MINUTES * 60 || (age >= seconds - FIRST_MINUTES * 60 && age < seconds)

/** The share of samples without a price, to six decimals, halves up; null without samples. */
function unquotedShare({ quoted_count, unquoted_count }: PegSums): number | null {
  const samples = quoted_count + unquoted_count
  return samples === 0n ? null : Number((2_000_000n * unquoted_count + samples) / (2n * samples)) / 1e6
}

/** The published figures of a window. */
type WindowFigures = {
  sample_count: number
  unquoted_count: number
  unquoted_share: number | null
  mean_price: number | null
  stddev_price: number | null
  min_price: number | null
  max_price: number | null
  max_deviation_bps: number | null
  seconds_outside_10bps: number | null
  seconds_outside_50bps: number | null
}

/**
 * The sums over samples by their age at the end of a window, with the time that a sample represents clipped at the start of
 * the window: windows are whole hours long, so each starts where the age is a multiple of an hour.
 */
export function sumsOfSamples(
  samples: readonly { age: number; elapsed_seconds: number; sell_micros: number | null }[],
): PegSums {
  return sumsOver(
    samples.map(({ age, elapsed_seconds, sell_micros }) => ({
      sell_micros,
      seconds: Math.min(elapsed_seconds, HOUR_SECONDS - (age % HOUR_SECONDS)),
    })),
  )
}

/** The largest integer whose square is not above `value`. */
function integerSqrt(value: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(value))))
  while (root * root > value) root -= 1n
  while ((root + 1n) * (root + 1n) <= value) root += 1n
  return root
}

/** The standard deviation of samples' prices and their largest distance from 1; null without a quoted sample. */
function priceSpread({
  quoted_count: n,
  deviation_sum,
  deviation_square_sum,
  deviation_min,
  deviation_max,
}: PegSums): { stddev_price: number; max_deviation_bps: number } | null {
  if (n === 0n || deviation_min === null || deviation_max === null) return null
  const spread = n * deviation_square_sum - deviation_sum * deviation_sum
  const stddev = (integerSqrt(40_000n * spread) + n) / (2n * n)
  return {
    stddev_price: Number(stddev) / 1e8,
    max_deviation_bps: Math.max(Math.abs(deviation_min), Math.abs(deviation_max)) / 100,
  }
}

/**
 * The figures of a window over n quoted samples, S1 the sum of their deviations in millionths and S2 that of the
 * squares:
 *
 * - mean_price = (1e6 n + S1) / (1e6 n), stddev_price (population) = sqrt(n S2 - S1²) / (1e6 n), both rounded to 8
 *   decimals, halves up;
 * - min_price and max_price = 1 + deviation / 1e6, max_deviation_bps = the largest |deviation| / 100.
 *
 * All in integers until the last division, so that anyone with the samples gets bit-identical results. All figures but
 * the counts are null without a quoted sample: not measured is not the same as 0.
 */
export function windowFigures(sums: PegSums): WindowFigures {
  const { quoted_count: n, deviation_sum, deviation_min, deviation_max } = sums
  const counts = {
    sample_count: Number(n),
    unquoted_count: Number(sums.unquoted_count),
    unquoted_share: unquotedShare(sums),
  }
  const spread = priceSpread(sums)
  if (spread === null || deviation_min === null || deviation_max === null) {
    return {
      ...counts,
      mean_price: null,
      stddev_price: null,
      min_price: null,
      max_price: null,
      max_deviation_bps: null,
      seconds_outside_10bps: null,
      seconds_outside_50bps: null,
    }
  }
  const mean = (200n * (1_000_000n * n + deviation_sum) + n) / (2n * n)
  return {
    ...counts,
    ...spread,
    mean_price: Number(mean) / 1e8,
    min_price: (1_000_000 + deviation_min) / 1e6,
    max_price: (1_000_000 + deviation_max) / 1e6,
    seconds_outside_10bps: Number(sums.seconds_outside_10bps),
    seconds_outside_50bps: Number(sums.seconds_outside_50bps),
  }
}

const refreshedSums = defineQuery({
  name: 'refreshed_peg_sums',
  params: z.object({ stables: z.array(z.string()) }),
  row: z.object({ stable: z.string(), window_seconds: z.int(), as_of: dateTime, ...SUM_COLUMNS }),
  sql: `
    SELECT stable, window_seconds, as_of, ${SUM_NAMES.join(', ')}
    FROM peg_windows WHERE stable IN {stables: Array(String)}`,
})

/**
 * A stable's windows as of the last refresh, `as_of`, in no order. Empty before the first refresh that includes the
 * stable.
 */
export const refreshedPegSums = keptWhile(
  ['peg_windows'],
  together('refreshed_peg_sums', async (clickhouse, asked: { stables: string[] }, options) =>
    byStable(await refreshedSums(clickhouse, asked, options)),
  ),
)
