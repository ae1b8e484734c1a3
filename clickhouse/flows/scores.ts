import { z } from 'zod'
import { WEEK_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { dateTime, integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'

/** The rules by which a window of an edge is an anomaly: more than usual, less than usual, or nothing for too long. */
export const ANOMALY_KINDS = ['surge', 'drop', 'silence'] as const
export type AnomalyKind = (typeof ANOMALY_KINDS)[number]

/** The most probable silence that is an anomaly: as improbable as a normal value three deviations above its mean. */
const SILENCE_PROBABILITY = 0.00135

/** A window with a flow is an anomaly, by either rule, only if it is at least so many deviations from what is usual. */
export const MIN_ABS_Z = 3

/** Observations that a baseline must have. */
export const MIN_OBSERVATIONS = 10

/**
 * An anomaly of an edge in one window, with the sums from which its figures are computed. The last four are 0 except in a
 * silence: how many windows it has lasted, the longest silence of the week before it, and how many windows that week has
 * for the edge, and how many with a flow.
 */
export const FlowScore = z.object({
  from_token: z.string(),
  to_token: z.string(),
  kind: z.enum(ANOMALY_KINDS),
  observed_micros: integerText,
  tx_count: z.int(),
  bucket_count: z.int(),
  observation_count: z.int(),
  baseline_sum: integerText,
  baseline_square_sum: integerText,
  silent_windows: z.int(),
  longest_silence: z.int(),
  usual_windows: z.int(),
  usual_active: z.int(),
})
export type FlowScore = z.infer<typeof FlowScore>

const WindowScore = FlowScore.extend({ window_start: dateTime })

export const WEEK_BEFORE = `scored - ${WEEK_SECONDS}`

const LATER_STABLES = 'SELECT stable FROM stablecoins WHERE toUnixTimestamp(block_time) > {read_since: UInt32}'

/**
 * The edges, the window of the first flow of each, and whether that is known to be its first: everything is read since the
 * chain's first block or since before one of its stables was made.
 */
export const EDGES = `
             SELECT reinterpretAsUInt128(sipHash128(from_token, to_token)) AS edge, from_token, to_token, min(first_window) AS first_window,
                    {read_since: UInt32} = 0 OR from_token IN (${LATER_STABLES}) OR to_token IN (${LATER_STABLES}) AS is_new
             FROM flow_edge_starts GROUP BY from_token, to_token`

/** The sums of the baseline of every edge: the 672 windows before the scored one. */
const BASELINES = `
    SELECT edge, countIf(flow_count > unvalued_count) AS valued, count() - valued AS unknown,
           sum(volume_micros) AS total, sum(toUInt256(volume_micros) * volume_micros) AS squares
    FROM flow_buckets FINAL
    WHERE window_start >= ${WEEK_BEFORE} AND window_start < scored
    GROUP BY edge
    HAVING valued > 0`

/** From one flow to the next in the week up to the last flow of a silent edge, the times in seconds; the first is 0. */
const STEPS = 'arrayDifference(arraySort(groupArray(toUnixTimestamp(window_start))))'

/**
 * The edges without a flow in the scored window, and the week up to their last flow, which began `since`: its windows with a flow
 * and with a value, its sums, its first flow and the longest time between two. `silent` counts the windows since, with the
 * scored one.
 */
export const SILENCES = `
    SELECT edge, toUInt32((toUnixTimestamp(scored) - toUnixTimestamp(last)) / ${FLOW_WINDOW_SECONDS}) AS silent, last,
           last - ${WEEK_SECONDS - FLOW_WINDOW_SECONDS} AS since, count() AS base_active, countIf(flow_count > unvalued_count) AS base_valued,
           sum(volume_micros) AS base_total, sum(toUInt256(volume_micros) * volume_micros) AS base_squares,
           min(window_start) AS first_of_base, ${STEPS} AS steps, arrayMax(steps) AS longest_step
    FROM flow_buckets FINAL
    INNER JOIN
    (
        SELECT edge, max(window_start) AS last FROM flow_buckets
        WHERE window_start >= ${WEEK_BEFORE} AND window_start <= scored
        GROUP BY edge HAVING last < scored
    ) AS quiet USING edge
    WHERE window_start >= scored - ${2 * WEEK_SECONDS} AND window_start < scored AND window_start >= since
    GROUP BY edge, last
    HAVING base_valued >= ${MIN_OBSERVATIONS}`

const Params = z.object({ window_start: z.date(), min_abs_z: z.int(), read_since: z.int().nonnegative() })

/** From which silent window on a silence is improbable by the week before it. */
const UNUSUAL_FROM = `
         toInt256(base_windows - base_active + base_valued) * base_squares - toInt256(base_total) * base_total AS base_variance,
         toUInt32(floor(log(${SILENCE_PROBABILITY}) / log((2 * (base_windows - base_active) + 1) / (2 * (base_windows + 1)))) + 1) AS improbable_from,
         multiIf(base_variance = 0, greatest(2, improbable_from),
                 toInt256(base_total) * base_total >= squared_limit * base_variance, 1,
                 improbable_from) AS unusual_from`

/** A silence counts only if the week before it is wholly read. */
const IS_READ = `(is_new OR (first_window <= since AND {read_since: UInt32} < toUnixTimestamp(since)))`

/** The silences that in the scored window become longer than usual. Decided here, so that the engine plans these expressions once. */
const UNUSUAL_SILENCES = `
    WITH toUnixTimestamp(greatest(first_window, since)) AS base_start,
         toUInt32((toUnixTimestamp(last) + ${FLOW_WINDOW_SECONDS} - base_start) / ${FLOW_WINDOW_SECONDS}) AS base_windows,
         toUInt32(greatest(longest_step, toUnixTimestamp(first_of_base) - base_start + ${FLOW_WINDOW_SECONDS}) / ${FLOW_WINDOW_SECONDS} - 1) AS longest,
         ${UNUSUAL_FROM}
    SELECT edge, silent, longest, base_windows, base_active
    FROM (${SILENCES}) AS silences INNER JOIN edges USING edge
    WHERE silent = greatest(longest + 1, unusual_from) AND ${IS_READ}`

/**
 * The scores of edges in windows of which `condition` holds, given the sums of each: its baseline, and its observation or its
 * silence (0 windows: none). `scored` is the window; `names` are further expressions for it and for subqueries.
 */
const scoresOf = (names: string, sums: string, condition: string): string => `
    WITH ${names},
         edges AS (${EDGES}),
         toInt256({min_abs_z: UInt8} * {min_abs_z: UInt8}) AS squared_limit,
         toUInt16((toUnixTimestamp(scored) - toUnixTimestamp(greatest(first_window, ${WEEK_BEFORE}))) / ${FLOW_WINDOW_SECONDS}) - unknown AS buckets,
         toInt256(buckets) * squares - toInt256(total) * total AS variance,
         toInt256(buckets) * ifNull(observed, 0) - toInt256(total) AS distance,
         toInt256(valued) * squares - toInt256(total) * total AS active_variance,
         toInt256(valued) * ifNull(observed, 0) - toInt256(total) AS active_distance,
         is_new OR first_window <= ${WEEK_BEFORE} AS is_known,
         NOT is_unknown AND valued >= ${MIN_OBSERVATIONS} AND is_known AND distance * distance >= squared_limit * variance AS is_far,
         active_distance > 0 AND active_distance * active_distance >= squared_limit * active_variance
           AND (toInt256(buckets) * active_distance) * (toInt256(buckets) * active_distance) >= squared_limit * valued * valued * variance AS is_surge,
         observed IS NOT NULL AND is_far AND (distance <= 0 OR is_surge) AS stands_out
    SELECT scored AS window_start, from_token, to_token, multiIf(silent > 0, 'silence', distance > 0, 'surge', 'drop') AS kind,
           toString(ifNull(observed, 0)) AS observed_micros, toUInt32(ifNull(transactions, 0)) AS tx_count,
           toUInt16(buckets) AS bucket_count, toUInt16(valued) AS observation_count,
           toString(total) AS baseline_sum, toString(squares) AS baseline_square_sum,
           toUInt16(silent) AS silent_windows, toUInt16(longest) AS longest_silence,
           toUInt16(base_windows) AS usual_windows, toUInt16(base_active) AS usual_active
    FROM ${sums}
    WHERE variance > 0 AND (${condition})
    ORDER BY window_start, from_token, to_token`

/** The scores of the edges in one window of which `condition` holds. */
const scoresSql = (condition: string): string =>
  scoresOf(
    "{window_start: DateTime('UTC')} AS scored",
    `(${BASELINES}) AS baselines
    INNER JOIN edges USING edge
    LEFT JOIN
    (
        SELECT edge, toNullable(volume_micros) AS observed, transaction_count AS transactions,
               flow_count = unvalued_count AS is_unknown
        FROM flow_buckets FINAL
        WHERE window_start = scored
    ) AS observations USING edge
    LEFT JOIN (${UNUSUAL_SILENCES}) AS silences USING edge`,
    condition,
  )

/** The windows of a range, and what is read before them: their baselines, and the week before a silence that ends in one. */
const RANGE = `toUnixTimestamp({first: DateTime}) AS first_scored, toUnixTimestamp({last: DateTime}) AS last_scored`

/** The sums over all windows of an edge from the first that is read, up to and including one with a flow. */
const RUNNING_SUMS = `
    SELECT edge, toUnixTimestamp(window_start) AS bucket, volume_micros, flow_count > unvalued_count AS is_valued, transaction_count,
           sum(volume_micros) OVER so_far AS total_to, sum(toUInt256(volume_micros) * volume_micros) OVER so_far AS squares_to,
           toInt64(countIf(is_valued) OVER so_far) AS valued_to, toInt64(count() OVER so_far) AS active_to
    FROM flow_buckets FINAL
    WHERE window_start >= {first: DateTime} - ${2 * WEEK_SECONDS} AND window_start <= {last: DateTime}
    WINDOW so_far AS (PARTITION BY edge ORDER BY window_start ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`

/**
 * Each window with the running sums before the week before the window, and before the week up to it; and with the window of the next
 * flow (0: none), the first window of the week up to it, and the longest time from one flow to the next in that week.
 */
const WEEKLY_SUMS = `
    SELECT *, nth_value(sums_before, 1) OVER week_before AS before_week, nth_value(sums_before, 1) OVER week_up_to AS before_base,
           nth_value(bucket, 1) OVER week_up_to AS first_of_base, max(until_next) OVER earlier AS longest_step
    FROM
    (
        SELECT *, leadInFrame(bucket, 1, 0) OVER (PARTITION BY edge ORDER BY bucket ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next,
               next - bucket AS until_next,
               (toUInt128(total_to - volume_micros), toUInt256(squares_to - toUInt256(volume_micros) * volume_micros), valued_to - is_valued, active_to - 1) AS sums_before
        FROM (${RUNNING_SUMS})
    )
    WINDOW week_before AS (PARTITION BY edge ORDER BY bucket RANGE BETWEEN ${WEEK_SECONDS} PRECEDING AND CURRENT ROW),
           week_up_to AS (PARTITION BY edge ORDER BY bucket RANGE BETWEEN ${WEEK_SECONDS - FLOW_WINDOW_SECONDS} PRECEDING AND CURRENT ROW),
           earlier AS (PARTITION BY edge ORDER BY bucket RANGE BETWEEN ${WEEK_SECONDS - FLOW_WINDOW_SECONDS} PRECEDING AND ${FLOW_WINDOW_SECONDS} PRECEDING)`

/** The windows with a flow, and their baselines. */
const ACTIVE_WINDOWS = `
    SELECT edge, toDateTime(bucket, 'UTC') AS scored, toNullable(volume_micros) AS observed, transaction_count AS transactions,
           NOT is_valued AS is_unknown, toUInt64(sums_before.3 - before_week.3) AS valued, toInt64(sums_before.4 - before_week.4) - valued AS unknown,
           toUInt128(sums_before.1 - before_week.1) AS total, toUInt256(sums_before.2 - before_week.2) AS squares,
           toUInt64(0) AS silent, toUInt32(0) AS longest, toUInt32(0) AS base_windows, toUInt64(0) AS base_active
    FROM weekly
    WHERE bucket >= first_scored AND bucket <= last_scored AND valued > 0`

/** The windows in which a silence becomes longer than usual, and their baselines. There is at most one after each flow. */
const SILENT_WINDOWS = `
    SELECT edge, scored, CAST(NULL, 'Nullable(UInt128)') AS observed, toUInt64(0) AS transactions, false AS is_unknown,
           countIf(flow_count > unvalued_count) AS valued, count() - valued AS unknown,
           sum(volume_micros) AS total, sum(toUInt256(volume_micros) * volume_micros) AS squares,
           silent, longest, base_windows, base_active
    FROM
    (
        SELECT edge, toUnixTimestamp(window_start) AS baseline_window, volume_micros, flow_count, unvalued_count FROM flow_buckets FINAL
        WHERE window_start >= {first: DateTime} - ${WEEK_SECONDS} AND window_start < {last: DateTime}
    ) AS baselines
    INNER JOIN
    (
        WITH ${UNUSUAL_FROM}
        SELECT edge, toDateTime(bucket - ${WEEK_SECONDS - FLOW_WINDOW_SECONDS}, 'UTC') AS since,
               toUInt32((bucket + ${FLOW_WINDOW_SECONDS} - toUnixTimestamp(greatest(first_window, since))) / ${FLOW_WINDOW_SECONDS}) AS base_windows,
               toUInt64(active_to - before_base.4) AS base_active, toUInt64(valued_to - before_base.3) AS base_valued,
               toUInt128(total_to - before_base.1) AS base_total, toUInt256(squares_to - before_base.2) AS base_squares,
               toUInt32(greatest(longest_step, first_of_base - toUnixTimestamp(greatest(first_window, since)) + ${FLOW_WINDOW_SECONDS}) / ${FLOW_WINDOW_SECONDS} - 1) AS longest,
               toUInt64(greatest(longest + 1, unusual_from)) AS silent, bucket + ${FLOW_WINDOW_SECONDS} * silent AS scored_at,
               toDateTime(scored_at, 'UTC') AS scored, toUInt32(scored_at - ${WEEK_SECONDS}) AS week_before
        FROM weekly INNER JOIN edges USING edge
        WHERE base_valued >= ${MIN_OBSERVATIONS} AND silent <= ${WEEK_SECONDS / FLOW_WINDOW_SECONDS}
          AND scored_at >= first_scored AND scored_at <= last_scored AND (next = 0 OR scored_at < next)
          AND ${IS_READ}
    ) AS silences USING edge
    WHERE baseline_window >= week_before AND baseline_window < scored_at
    GROUP BY ALL
    HAVING valued > 0`

/**
 * The anomalies of the 15 minutes from `window_start`, a multiple of 15 minutes; ordered by address.
 *
 * The baseline is the 672 windows before, or those from the edge's first flow on. A window without a flow counts as 0.
 * A window whose flows all lack a USD value is unknown: it neither counts nor is scored. At least 10 windows must have a
 * value, and the values must vary. A window with a flow is an anomaly if it lies at least `min_abs_z` population standard
 * deviations from the mean, and, if above, as many above the mean of the windows with a value, in the deviation of all
 * windows and in that of those. A window without a flow is one if it makes the silence longer than any of the week
 * before the silence began, and improbable by that week; that holds for one window of a silence.
 *
 * An edge is judged only where all of its baseline is read, of which everything since `read_since` is, in unix seconds
 * (0: since the chain's first block): the edge's first flow must be known, so it lies before the baseline, or one of its
 * stables was made later than that.
 *
 * All sums are integers, so that constant values have a variance of exactly 0 and the thresholds are exact. They can
 * hold up to 5e26 USD per window, and a flow is worth at most 10^18.
 */
export const flowZScores = defineQuery({
  name: 'flow_z_scores',
  params: Params,
  row: WindowScore,
  sql: scoresSql('stands_out OR silent > 0'),
})

/**
 * The edges that z alone would flag in the same 15 minutes: at least `min_abs_z` deviations from the mean, where a window
 * without a flow has a volume of 0. Only for comparison; nothing announces them.
 */
export const plainZScores = defineQuery({
  name: 'plain_z_scores',
  params: Params,
  row: WindowScore,
  sql: scoresSql('is_far'),
})

/**
 * The z-scores of every window that begins from `first` to `last`, both included, as `flowZScores` has them for one: ordered by
 * window, then by address. Reads the buckets from two weeks before the first window on once, whatever the number of windows.
 */
export const flowZScoresOfRange = defineQuery({
  name: 'flow_z_scores_of_range',
  params: z.object({ first: z.date(), last: z.date(), min_abs_z: z.int(), read_since: z.int().nonnegative() }),
  row: WindowScore,
  sql: scoresOf(
    `${RANGE},
         weekly AS (${WEEKLY_SUMS})`,
    `(${ACTIVE_WINDOWS} UNION ALL ${SILENT_WINDOWS}) AS windows INNER JOIN edges USING edge`,
    'stands_out OR silent > 0',
  ),
})
