/**
 * The sums over samples, by column. All published figures of windows and buckets and the peg inputs of risk scores are
 * computed from these.
 */
type SumsSql = Record<
  | 'quoted_count'
  | 'unquoted_count'
  | 'deviation_sum'
  | 'deviation_square_sum'
  | 'deviation_min'
  | 'deviation_max'
  | 'seconds_outside_10bps'
  | 'seconds_outside_50bps',
  string
>

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

/**
 * The sums over samples, each with its `deviation` and the `seconds` that it represents. `quote` is an expression that
 * is null without a quote. The views peg_minutes_mv and peg_windows_at have the same sums; a test compares them.
 */
export const sampleSums = ({ quote = 'deviation', seconds = 'seconds' } = {}): SumsSql => ({
  quoted_count: `count(${quote})`,
  unquoted_count: `countIf(${quote} IS NULL)`,
  deviation_sum: 'ifNull(sum(deviation), 0)',
  deviation_square_sum: 'ifNull(sum(toUInt64(deviation * deviation)), 0)',
  deviation_min: 'toInt32(min(deviation))',
  deviation_max: 'toInt32(max(deviation))',
  seconds_outside_10bps: `sumIf(${seconds}, abs(deviation) > ${ALLOWED_MICROS['10bps']})`,
  seconds_outside_50bps: `sumIf(${seconds}, abs(deviation) > ${ALLOWED_MICROS['50bps']})`,
})

/**
 * The sums over whole minutes, from the states in peg_minutes; bit-identical to the sums over the samples of those
 * minutes.
 */
export const MINUTE_SUMS: SumsSql = {
  quoted_count: 'sum(quoted_count)',
  unquoted_count: 'sum(unquoted_count)',
  deviation_sum: 'sum(deviation_sum)',
  deviation_square_sum: 'sum(deviation_square_sum)',
  deviation_min: 'min(deviation_min)',
  deviation_max: 'max(deviation_max)',
  seconds_outside_10bps: 'sum(seconds_outside_10bps)',
  seconds_outside_50bps: 'sum(seconds_outside_50bps)',
}

/** The sums as a SELECT list, each under the name of its column. */
export const selected = (sums: SumsSql): string =>
  Object.entries(sums)
    .map(([column, sum]) => `${sum} AS ${column}`)
    .join(', ')
