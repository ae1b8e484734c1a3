import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'
import { EDGES, SILENCES, WEEK_BEFORE } from './scores.js'

/** Days whose windows of the same hour say how often an edge is active at that hour. */
const HOUR_DAYS = 28

const HOURS_BEFORE = `scored - ${HOUR_DAYS * DAY_SECONDS}`

/**
 * An edge in one window, and what its history says about it. The logarithm of a volume is ln of it in 1e-6 USD, where 0
 * counts as 1, rounded to millionths: so sums and medians are integers, and volumes that differ by less than a millionth
 * are equal. All counts are 0 if there is no observation.
 */
export const EdgeWindow = z.object({
  from: z.string(),
  to: z.string(),
  from_address: z.string(),
  to_address: z.string(),
  observed_micros: integerText,
  /** The logarithm of the volume, in millionths. */
  observed_log: z.int(),
  /** Whether the window has a flow, and one with a value. */
  is_active: z.boolean(),
  is_valued: z.boolean(),
  /** Whether all of the baseline is read: the week before, or the time since the edge's first flow. */
  is_read: z.boolean(),
  /** Windows of the baseline whose volume is known, and those of them with a flow. */
  baseline_windows: z.int(),
  observations: z.int(),
  /** Twice the median of the logarithms of the observations, in millionths. */
  median_twice: z.int(),
  /** Of the distances of these logarithms from it: four times their median, and twice their sum, in millionths. */
  distance_four_times: z.int(),
  distances_twice: z.int(),
  /** Observations with at least, and with at most, the window's volume. */
  at_least: z.int(),
  at_most: z.int(),
  /** Windows of the window's hour in the four weeks before it, and those of them with a flow; 0 without these weeks. */
  hour_windows: z.int(),
  hour_active: z.int(),
  /** As in `FlowScore`, of a window without a flow if the week up to the last flow has the observations; else 0. */
  silent_windows: z.int(),
  longest_silence: z.int(),
  usual_windows: z.int(),
  usual_active: z.int(),
  /** Whether all of that week is read. */
  is_silence_read: z.boolean(),
})
export type EdgeWindow = z.infer<typeof EdgeWindow>

const logOf = (micros: string): string => `toInt32(floor(log(greatest(toFloat64(${micros}), 1.)) * 1000000 + 0.5))`

/** The volume of the scored window, and the logarithms of those of the week before. */
const WEEKS = `
    SELECT edge, sumIf(volume_micros, is_scored) AS observed, countIf(is_scored) > 0 AS is_active,
           countIf(is_scored AND has_value) > 0 AS is_valued, countIf(NOT is_scored AND NOT has_value) AS unknown,
           arraySort(groupArrayIf(${logOf('volume_micros')}, NOT is_scored AND has_value)) AS logs
    FROM
    (
        SELECT edge, volume_micros, window_start = scored AS is_scored, flow_count > unvalued_count AS has_value
        FROM flow_buckets FINAL
        WHERE window_start >= ${WEEK_BEFORE} AND window_start <= scored
    )
    GROUP BY edge`

/** The windows of four weeks that begin in the same hour of the day. */
const HOURS = `
    SELECT edge, countIf(flow_count > unvalued_count) AS hour_valued, count() - hour_valued AS hour_unknown
    FROM flow_buckets FINAL
    WHERE window_start IN
    (
        SELECT toStartOfHour(scored) - number * ${DAY_SECONDS} + arrayJoin(range(0, 3600, ${FLOW_WINDOW_SECONDS})) AS at
        FROM numbers(${HOUR_DAYS + 1}) WHERE at >= ${HOURS_BEFORE} AND at < scored
    )
    GROUP BY edge`

/** Twice the median of a sorted array. */
const medianTwice = (sorted: string): string =>
  `${sorted}[intDiv(length(${sorted}) + 1, 2)] + ${sorted}[intDiv(length(${sorted}), 2) + 1]`

/**
 * Every edge that had its first flow by the end of the 15 minutes from `window_start`, a multiple of 15 minutes; in no
 * order. `read_since` as in `flowZScores`. Reads the buckets of a week, those of the same hour in four weeks, and of the edges without a flow in the window
 * another week.
 */
export const edgeWindows = defineQuery({
  name: 'edge_windows',
  params: z.object({ window_start: z.date(), read_since: z.int().nonnegative() }),
  row: EdgeWindow,
  sql: `
    WITH {window_start: DateTime('UTC')} AS scored,
         edges AS (${EDGES}),
         symbols AS (SELECT stable, symbol FROM stablecoins),
         greatest(first_window, ${WEEK_BEFORE}) AS baseline_start,
         ${logOf('observed')} AS observed_log,
         ${medianTwice('logs')} AS middle_twice,
         arraySort(arrayMap(one -> abs(2 * one - middle_twice), logs)) AS distances,
         first_window <= ${HOURS_BEFORE} AND (is_new OR {read_since: UInt32} <= toUnixTimestamp(${HOURS_BEFORE})) AS is_by_hour
    SELECT if(source.symbol = '', from_token, source.symbol) AS from, if(target.symbol = '', to_token, target.symbol) AS to,
           from_token AS from_address, to_token AS to_address, toString(observed) AS observed_micros, observed_log,
           is_active::Bool AS is_active, is_valued::Bool AS is_valued,
           (is_new OR (first_window <= ${WEEK_BEFORE} AND {read_since: UInt32} <= toUnixTimestamp(${WEEK_BEFORE})))::Bool AS is_read,
           toUInt32((toUnixTimestamp(scored) - toUnixTimestamp(baseline_start)) / ${FLOW_WINDOW_SECONDS} - unknown) AS baseline_windows,
           toUInt32(length(logs)) AS observations, toInt32(middle_twice) AS median_twice,
           toInt32(${medianTwice('distances')}) AS distance_four_times, toFloat64(arraySum(distances)) AS distances_twice,
           toUInt32(arrayCount(one -> one >= observed_log, logs)) AS at_least,
           toUInt32(arrayCount(one -> one <= observed_log, logs)) AS at_most,
           toUInt32(if(is_by_hour, ${(HOUR_DAYS * 3600) / FLOW_WINDOW_SECONDS} - hour_unknown, 0)) AS hour_windows,
           toUInt32(if(is_by_hour, hour_valued, 0)) AS hour_active,
           toUInt32(silent) AS silent_windows, toUInt32(longest) AS longest_silence,
           toUInt32(base_windows) AS usual_windows, toUInt32(base_active) AS usual_active,
           (is_new OR (first_window <= since AND {read_since: UInt32} <= toUnixTimestamp(since)))::Bool AS is_silence_read
    FROM edges
    LEFT JOIN (${WEEKS}) AS weeks USING edge
    LEFT JOIN (${HOURS}) AS hours USING edge
    LEFT JOIN (${SILENCES}) AS silences USING edge
    LEFT JOIN symbols AS source ON source.stable = edges.from_token
    LEFT JOIN symbols AS target ON target.stable = edges.to_token
    WHERE first_window <= scored`,
})
