import { z } from 'zod'
import { WEEK_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'

/** The rules by which a window of an edge is an anomaly: more than usual, less than usual, or nothing for too long. */
export const ANOMALY_KINDS = ['surge', 'drop', 'silence'] as const

/** The most probable silence that is an anomaly: as improbable as a normal value three deviations above its mean. */
const SILENCE_PROBABILITY = 0.00135

/** A window with a flow is an anomaly only if it is at least so many standard deviations from its baseline. */
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

/**
 * The edges without a flow in the scored window, and the week up to their last flow: its windows, those with a flow and
 * with a value, its sums, and its longest silence. `silent` counts the windows since, with the scored one.
 */
export const SILENCES = `
    SELECT edge, silent, toUInt32((toUnixTimestamp(last) + ${FLOW_WINDOW_SECONDS} - toUnixTimestamp(greatest(first_window, since))) / ${FLOW_WINDOW_SECONDS}) AS base_windows,
           count() AS base_active, countIf(is_valued) AS base_valued, sum(volume_micros) AS base_total,
           sum(toUInt256(volume_micros) * volume_micros) AS base_squares,
           toUInt32(max(toUnixTimestamp(window_start) - toUnixTimestamp(before)) / ${FLOW_WINDOW_SECONDS} - 1) AS longest, since
    FROM
    (
        SELECT edge, silent, last, since, first_window, window_start, volume_micros, flow_count > unvalued_count AS is_valued,
               lagInFrame(window_start, 1, greatest(first_window, since) - ${FLOW_WINDOW_SECONDS}) OVER (PARTITION BY edge ORDER BY window_start ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
        FROM flow_buckets FINAL
        INNER JOIN
        (
            SELECT edge, max(window_start) AS last, last - ${WEEK_SECONDS - FLOW_WINDOW_SECONDS} AS since,
                   toUInt32((toUnixTimestamp(scored) - toUnixTimestamp(last)) / ${FLOW_WINDOW_SECONDS}) AS silent
            FROM flow_buckets WHERE window_start >= ${WEEK_BEFORE} AND window_start <= scored
            GROUP BY edge HAVING last < scored
        ) AS quiet USING edge
        INNER JOIN edges USING edge
        WHERE window_start >= scored - ${2 * WEEK_SECONDS} AND window_start < scored AND window_start >= since
    )
    GROUP BY edge, silent, last, since, first_window
    HAVING base_valued >= ${MIN_OBSERVATIONS}`

const Params = z.object({ window_start: z.date(), min_abs_z: z.int(), read_since: z.int().nonnegative() })

/** The scores of the edges of which `condition` holds. */
const scoresSql = (condition: string): string => `
    WITH {window_start: DateTime('UTC')} AS scored,
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
         observed IS NOT NULL AND is_far AND (distance <= 0 OR is_surge) AS stands_out,
         toInt256(base_windows - base_active + base_valued) * base_squares - toInt256(base_total) * base_total AS base_variance,
         toUInt32(floor(log(${SILENCE_PROBABILITY}) / log((2 * (base_windows - base_active) + 1) / (2 * (base_windows + 1)))) + 1) AS improbable_from,
         multiIf(base_variance = 0, greatest(2, improbable_from),
                 toInt256(base_total) * base_total >= squared_limit * base_variance, 1,
                 improbable_from) AS unusual_from,
         observed IS NULL AND silent > 0 AND silent = greatest(longest + 1, unusual_from)
           AND (is_new OR (first_window <= since AND {read_since: UInt32} < toUnixTimestamp(since))) AS is_silence
    SELECT from_token, to_token, multiIf(is_silence, 'silence', distance > 0, 'surge', 'drop') AS kind,
           toString(ifNull(observed, 0)) AS observed_micros, toUInt32(ifNull(transactions, 0)) AS tx_count,
           toUInt16(buckets) AS bucket_count, toUInt16(valued) AS observation_count,
           toString(total) AS baseline_sum, toString(squares) AS baseline_square_sum,
           toUInt16(if(is_silence, silent, 0)) AS silent_windows, toUInt16(if(is_silence, longest, 0)) AS longest_silence,
           toUInt16(if(is_silence, base_windows, 0)) AS usual_windows, toUInt16(if(is_silence, base_active, 0)) AS usual_active
    FROM (${BASELINES}) AS baselines
    INNER JOIN edges USING edge
    LEFT JOIN
    (
        SELECT edge, toNullable(volume_micros) AS observed, transaction_count AS transactions,
               flow_count = unvalued_count AS is_unknown
        FROM flow_buckets FINAL
        WHERE window_start = scored
    ) AS observations USING edge
    LEFT JOIN (${SILENCES}) AS silences USING edge
    WHERE variance > 0 AND (${condition})
    ORDER BY from_token, to_token`

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
  row: FlowScore,
  sql: scoresSql('stands_out OR is_silence'),
})

/**
 * The edges that z alone would flag in the same 15 minutes: at least `min_abs_z` deviations from the mean, where a window
 * without a flow has a volume of 0. Only for comparison; nothing announces them.
 */
export const plainZScores = defineQuery({
  name: 'plain_z_scores',
  params: Params,
  row: FlowScore,
  sql: scoresSql('is_far'),
})
