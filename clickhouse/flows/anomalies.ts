import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME, isoSeconds, WEEK_SECONDS } from '../../process/instants.js'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { isRecent, recentFirst } from '../store/recent-first.js'
import { dateTime, integerText } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'

/** Length of the windows that are scored. */
export const ANOMALY_WINDOW_MS = 900_000

/** An anomaly as stored, its figures computed. */
export const FlowAnomaly = z.object({
  from_token: z.string(),
  to_token: z.string(),
  window_start: dateTime,
  observed_flow_usd: z.number(),
  baseline_mean_usd: z.number(),
  baseline_stddev_usd: z.number(),
  z_score: z.number(),
  tx_count: z.int(),
  baseline_windows: z.int(),
  observations: z.int(),
})
export type FlowAnomaly = z.infer<typeof FlowAnomaly>

/** An anomaly as published, in lists and in events. */
export type PublishedAnomaly = Omit<FlowAnomaly, 'window_start'> & {
  window_start: string
  window_end: string
  detected_at: string
}

/** A window of an edge that lies far from its baseline, with the sums from which its score is computed. */
const FlowScore = z.object({
  from_token: z.string(),
  to_token: z.string(),
  observed_micros: integerText,
  tx_count: z.int(),
  bucket_count: z.int(),
  observation_count: z.int(),
  baseline_sum: integerText,
  baseline_square_sum: integerText,
})
export type FlowScore = z.infer<typeof FlowScore>

/** A slot's result for one edge and one window, which begins at `window_start` in unix seconds. */
type FlowAnomalyRow = FlowScore & { window_start: number; revision: number; is_deleted: 0 | 1 }

/**
 * Writes the anomalies that a slot found. A row replaces the row of the same edge and window from an older revision.
 */
export function insertFlowAnomalies(
  clickhouse: ClickHouseClient,
  rows: readonly FlowAnomalyRow[],
  token: string,
): Promise<void> {
  return insertRows(clickhouse, 'flow_anomalies', rows, token)
}

/** The position at which a page of anomalies continues: after the one with this window, distance and edge. */
export const FlowAnomalyKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.number().min(0), z.string(), z.string()])
export type FlowAnomalyKey = z.infer<typeof FlowAnomalyKey>

/** Sorts before every anomaly: the start of the first page. */
const NEWEST: FlowAnomalyKey = [END_OF_TIME, Number.MAX_VALUE, '', '']

/**
 * Anomalies of windows that begin at or before `as_of` and end by `horizon`, the newest window first and in it the
 * largest distance from the baseline: at most `limit` of those after the key `after`.
 */
export const flowAnomalies = recentFirst(
  defineQuery({
    name: 'flow_anomalies',
    params: z
      .object({
        as_of: z.date(),
        horizon: z.date(),
        limit: z.int(),
        after: FlowAnomalyKey.default(NEWEST),
        recent_only: z.boolean(),
      })
      .transform(({ after: [after_window, after_distance, after_from, after_to], ...rest }) => ({
        ...rest,
        after_window,
        after_distance,
        after_from,
        after_to,
      })),
    row: FlowAnomaly,
    sql: `
    SELECT from_token, to_token, window_start, observed_flow_usd, baseline_mean_usd, baseline_stddev_usd, z_score, tx_count,
           bucket_count AS baseline_windows, observation_count AS observations
    FROM flow_anomalies FINAL
    WHERE window_start <= {as_of: DateTime} AND ${isRecent('window_start', 'as_of')} AND window_start <= {horizon: DateTime} - ${FLOW_WINDOW_SECONDS}
      AND toUnixTimestamp(window_start) <= {after_window: UInt32}
      AND (toUnixTimestamp(window_start) < {after_window: UInt32} OR (-abs(z_score), from_token, to_token) > (-{after_distance: Float64}, {after_from: String}, {after_to: String}))
    ORDER BY window_start DESC, abs(z_score) DESC, from_token, to_token
    LIMIT {limit: UInt32}`,
  }),
  (rows, { limit }) => rows.length === limit,
)

/**
 * The edges whose flow in the 15 minutes from `window_start`, a multiple of 15 minutes, lies at least `min_abs_z`
 * population standard deviations from the mean of its baseline; ordered by address.
 *
 * The baseline is the 672 windows before, or those from the edge's first flow on. A window without a flow counts as 0.
 * A window whose flows all lack a USD value is unknown: it neither counts nor is scored. At least 10 windows must have
 * a value, and the values must vary. All sums are integers, so that constant values have a variance of exactly 0 and
 * the threshold is exact. They can hold up to 1e28 USD per window.
 */
export const flowZScores = defineQuery({
  name: 'flow_z_scores',
  params: z.object({ window_start: z.date(), min_abs_z: z.int() }),
  row: FlowScore,
  sql: `
    WITH {window_start: DateTime('UTC')} AS scored,
         toUInt16((toUnixTimestamp(scored) - toUnixTimestamp(greatest(first_window, scored - ${WEEK_SECONDS}))) / ${FLOW_WINDOW_SECONDS}) - unknown AS buckets,
         toInt256(buckets) * squares - toInt256(total) * total AS variance,
         toInt256(buckets) * ifNull(observed, 0) - toInt256(total) AS distance
    SELECT from_token, to_token, toString(ifNull(observed, 0)) AS observed_micros, toUInt32(transactions) AS tx_count,
           toUInt16(buckets) AS bucket_count, toUInt16(valued) AS observation_count,
           toString(total) AS baseline_sum, toString(squares) AS baseline_square_sum
    FROM
    (
        SELECT edge, countIf(flow_count > unvalued_count) AS valued, count() - valued AS unknown,
               sum(volume_micros) AS total, sum(toUInt256(volume_micros) * volume_micros) AS squares
        FROM flow_buckets FINAL
        WHERE window_start >= scored - ${WEEK_SECONDS} AND window_start < scored
        GROUP BY edge
        HAVING valued >= 10
    ) AS baselines
    INNER JOIN
    (
        SELECT reinterpretAsUInt128(sipHash128(from_token, to_token)) AS edge, from_token, to_token, min(first_window) AS first_window
        FROM flow_edge_starts GROUP BY from_token, to_token
    ) AS edges USING edge
    LEFT JOIN
    (
        SELECT edge, toNullable(volume_micros) AS observed, finalizeAggregation(tx_count) AS transactions,
               flow_count = unvalued_count AS is_unknown
        FROM flow_buckets FINAL
        WHERE window_start = scored
    ) AS observations USING edge
    WHERE NOT is_unknown AND variance > 0
      AND distance * distance >= toInt256({min_abs_z: UInt8} * {min_abs_z: UInt8}) * variance
    ORDER BY from_token, to_token`,
})

/** The anomalies of the window that begins at `window_start`, ordered by address. */
export const anomaliesOfWindow = defineQuery({
  name: 'anomalies_of_window',
  params: z.object({ window_start: z.date() }),
  row: FlowAnomaly,
  sql: `
    SELECT from_token, to_token, window_start, observed_flow_usd, baseline_mean_usd, baseline_stddev_usd, z_score, tx_count,
           bucket_count AS baseline_windows, observation_count AS observations
    FROM flow_anomalies FINAL
    WHERE window_start = {window_start: DateTime}
    ORDER BY from_token, to_token`,
})

/**
 * The edges for which a slot of a revision before `revision` found an anomaly in the window that begins at
 * `window_start`.
 */
export const outdatedAnomalies = defineQuery({
  name: 'outdated_anomalies',
  params: z.object({ window_start: z.date(), revision: z.int() }),
  row: z.object({ from_token: z.string(), to_token: z.string() }),
  // Without FINAL, so that a repeat finds the anomalies that it has already retracted.
  sql: `
    SELECT DISTINCT from_token, to_token FROM flow_anomalies
    WHERE window_start = {window_start: DateTime} AND revision < {revision: UInt32} AND is_deleted = 0
    ORDER BY from_token, to_token`,
})

/** The anomaly as published. It counts as detected at the end of its window. */
export function publishedAnomaly({ window_start, ...anomaly }: FlowAnomaly): PublishedAnomaly {
  const window_end = isoSeconds(new Date(window_start.getTime() + ANOMALY_WINDOW_MS))
  return { ...anomaly, window_start: isoSeconds(window_start), window_end, detected_at: window_end }
}
