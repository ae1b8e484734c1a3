import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { near, nearFirst } from '../store/recent-first.js'
import { dateTime } from '../store/values.js'

/** Where in the list of anomalies a page goes on: after the one with this window, distance and edge. */
export const FlowAnomalyKey = z.tuple([z.int().min(0).max(0xffff_ffff), z.number().min(0), z.string(), z.string()])
export type FlowAnomalyKey = z.infer<typeof FlowAnomalyKey>

/** Before every anomaly: where the first page begins. */
const NEWEST: FlowAnomalyKey = [0xffff_ffff, Number.MAX_VALUE, '', '']

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

/**
 * Anomalies of windows that begin at or before `as_of` and were over by `horizon`, the newest window first and in it the
 * largest distance from the baseline: at most `limit` of those after the key `after`.
 */
export const flowAnomalies = nearFirst(
  defineQuery({
    name: 'flow_anomalies',
    params: z
      .object({
        as_of: z.date(),
        horizon: z.date(),
        limit: z.int(),
        after: FlowAnomalyKey.default(NEWEST),
        is_near: z.boolean(),
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
    WHERE window_start <= {as_of: DateTime} AND ${near('window_start', 'as_of')} AND window_start <= {horizon: DateTime} - 900
      AND toUnixTimestamp(window_start) <= {after_window: UInt32}
      AND (toUnixTimestamp(window_start) < {after_window: UInt32} OR (-abs(z_score), from_token, to_token) > (-{after_distance: Float64}, {after_from: String}, {after_to: String}))
    ORDER BY window_start DESC, abs(z_score) DESC, from_token, to_token
    LIMIT {limit: UInt32}`,
  }),
  (rows, { limit }) => rows.length === limit,
)
