import { z } from 'zod'
import { DAY_SECONDS, WEEK_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'
import { SAMPLE, SampleTuple } from './samples.js'
import { DEVIATION, MINUTE_END, MINUTE_SUMS, sampleSums, selected } from './sums.js'

/** The published windows, shortest first. The reads rely on their lengths being whole hours. */
export const PEG_WINDOWS = [
  { window: '1h', seconds: 3600 },
  { window: '24h', seconds: DAY_SECONDS },
  { window: '7d', seconds: WEEK_SECONDS },
] as const

const SHORTEST = Math.min(...PEG_WINDOWS.map(({ seconds }) => seconds))
const LONGEST = Math.max(...PEG_WINDOWS.map(({ seconds }) => seconds))

/**
 * The minutes at the edges of a window, which are summed from their samples: the last two, since the window may end
 * within a minute, and the first three, since a sample represents up to 120 s before it.
 */
const LAST_MINUTES = 2
const FIRST_MINUTES = 3

/**
 * The first minute that a window of this length includes whole ends less than this many seconds before its last minute
 * ends.
 */
const wholeSeconds = (seconds: number): number => seconds - (FIRST_MINUTES - 1) * 60

/** The ends of the minutes at the edges of all windows, in unix seconds; `lastMinute` is the end of the last minute. */
export function edgeMinuteEnds(lastMinute: number): number[] {
  const last = Array.from({ length: LAST_MINUTES }, (_, minute) => minute * 60)
  const first = PEG_WINDOWS.flatMap(({ seconds }) =>
    Array.from({ length: FIRST_MINUTES }, (_, minute) => seconds - minute * 60),
  )
  return [...last, ...first].map((seconds) => lastMinute - seconds)
}

/** Whether samples whose age is `minutesAgo` whole minutes lie at an edge of the window that is `seconds` long. */
export function isEdge(minutesAgo: number, seconds: number): boolean {
  const length = seconds / 60
  return minutesAgo < LAST_MINUTES || (minutesAgo >= length - FIRST_MINUTES && minutesAgo < length)
}

/** Integer sums over samples; deviations are from 1, in millionths. The extremes are null without a quoted sample. */
export type PegSums = {
  quoted_count: bigint
  unquoted_count: bigint
  deviation_sum: bigint
  deviation_square_sum: bigint
  deviation_min: number | null
  deviation_max: number | null
  seconds_outside_10bps: bigint
  seconds_outside_50bps: bigint
}

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

const extreme = (pick: (a: number, b: number) => number, a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : pick(a, b)
/** The sums of all `parts`; for no parts, the sums over no samples. */
export function addSums(parts: readonly PegSums[]): PegSums {
  const none: PegSums = {
    quoted_count: 0n,
    unquoted_count: 0n,
    deviation_sum: 0n,
    deviation_square_sum: 0n,
    deviation_min: null,
    deviation_max: null,
    seconds_outside_10bps: 0n,
    seconds_outside_50bps: 0n,
  }
  return parts.reduce(
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

/** The largest integer whose square is not above `value`. */
function integerSqrt(value: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(value))))
  while (root * root > value) root -= 1n
  while ((root + 1n) * (root + 1n) <= value) root += 1n
  return root
}

/** The standard deviation of samples' prices and their largest distance from 1; null without a quoted sample. */
export function priceSpread(
  sums: Omit<PegSums, 'unquoted_count' | 'seconds_outside_10bps' | 'seconds_outside_50bps'>,
): { stddev_price: number; max_deviation_bps: number } | null {
  const { quoted_count: n, deviation_sum, deviation_square_sum, deviation_min, deviation_max } = sums
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

// A sum over nothing but nulls is null in SQL.
const sum = integerText.nullable().transform((text) => BigInt(text ?? 0))
const deviation = z.coerce.number().int().nullable()

/** The columns of a row of sums over samples. */
export const PegSumsRow = z.object({
  quoted_count: sum,
  unquoted_count: sum,
  deviation_sum: sum,
  deviation_square_sum: sum,
  deviation_min: deviation,
  deviation_max: deviation,
  seconds_outside_10bps: sum,
  seconds_outside_50bps: sum,
})

/** Whole minutes that `shortest_window`, in seconds, and all longer windows contain. */
const Minutes = z.object({ ...PegSumsRow.shape, shortest_window: z.int(), minutes_ago: z.null(), newest: z.tuple([]) })

/** Samples that lie `minutes_ago` whole minutes before the instant, and the newest of them. */
const Edge = z.object({
  ...PegSumsRow.shape,
  shortest_window: z.null(),
  minutes_ago: z.coerce.number().int(),
  newest: z.tuple([SampleTuple]).transform(([sample]) => sample),
})

/**
 * A stable's sums as of an instant in the minute that ends at `last_minute`. The inner minutes of the windows, all
 * except a window's first three and last two, are read from minute states. The minutes at the edges, which end at
 * `minute_ends`, are summed from their samples by age. The time that a sample represents is clipped at the start of a
 * window: windows are whole hours long, so each starts where the age is a multiple of an hour.
 */
export const pegSumsAt = defineQuery({
  name: 'peg_sums_at',
  params: z.object({ stable: z.string(), as_of: z.date(), last_minute: z.date(), minute_ends: z.array(z.int()) }),
  row: z.union([Minutes, Edge]),
  // One statement, since a second request would cost more than either half. Nested rather than one level with aliases,
  // because the engine plans that 2 ms faster, and most of the time is spent on planning.
  sql: `
    SELECT multiIf(${PEG_WINDOWS.slice(0, -1)
      .map(({ seconds }) => `minute_end > {last_minute: DateTime} - ${wholeSeconds(seconds)}, ${seconds}`)
      .join(', ')}, ${LONGEST}) AS shortest_window,
           NULL AS minutes_ago, [] AS newest, ${selected(MINUTE_SUMS)}
    FROM peg_minutes
    WHERE stable = {stable: String}
      AND minute_end > {last_minute: DateTime} - ${wholeSeconds(LONGEST)} AND minute_end <= {last_minute: DateTime} - ${LAST_MINUTES * 60}
    GROUP BY shortest_window
    UNION ALL
    SELECT NULL, intDiv(age, 60) AS minutes_ago, [argMax(sample, block_number)],
           ${selected(sampleSums())}
    FROM
    (
        SELECT age, deviation, toUInt64(least(elapsed_seconds, ${SHORTEST} - age % ${SHORTEST})) AS seconds, block_number, ${SAMPLE} AS sample
        FROM
        (
            SELECT {as_of: DateTime} - block_time AS age, ${DEVIATION} AS deviation,
                   elapsed_seconds, block_number, block_time, status, sell_micros, buy_micros
            FROM peg_samples
            WHERE stable = {stable: String} AND block_time <= {as_of: DateTime}
              AND ${MINUTE_END} IN {minute_ends: Array(DateTime)}
        )
    )
    GROUP BY minutes_ago`,
})

/**
 * A stable's windows as of the last refresh, `as_of`, in no order. Empty before the first refresh that includes the
 * stable.
 */
export const refreshedPegSums = defineQuery({
  name: 'refreshed_peg_sums',
  params: z.object({ stable: z.string() }),
  row: z.object({ window_seconds: z.int(), as_of: dateTime, ...PegSumsRow.shape }),
  sql: `
    SELECT window_seconds, as_of, quoted_count, unquoted_count, deviation_sum, deviation_square_sum,
           deviation_min, deviation_max, seconds_outside_10bps, seconds_outside_50bps
    FROM peg_windows WHERE stable = {stable: String}`,
})
