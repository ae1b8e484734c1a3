import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME, isoSeconds } from '../../process/instants.js'
import { isRecent, recentFirst } from '../chain/recent-first.js'
import { defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { dateTime } from '../store/values.js'
import { FLOW_WINDOW_SECONDS } from './buckets.js'
import { ANOMALY_KINDS, type FlowScore } from './scores.js'

/** Length of the windows that are scored. */
export const ANOMALY_WINDOW_MS = 900_000

/** An anomaly as stored, its figures computed. */
export const FlowAnomaly = z.object({
  from_token: z.string(),
  to_token: z.string(),
  kind: z.enum(ANOMALY_KINDS),
  window_start: dateTime,
  observed_flow_usd: z.number(),
  baseline_mean_usd: z.number(),
  baseline_stddev_usd: z.number(),
  z_score: z.number(),
  tx_count: z.int(),
  baseline_windows: z.int(),
  observations: z.int(),
  active_mean_usd: z.number(),
  active_stddev_usd: z.number(),
  /** These are null except in a silence. */
  silent_windows: z.int().nullable(),
  longest_silence_windows: z.int().nullable(),
  silence_probability: z.number().nullable(),
})
export type FlowAnomaly = z.infer<typeof FlowAnomaly>

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

/** The columns of a `FlowAnomaly`. */
const ANOMALY_COLUMNS = `
           from_token, to_token, kind, window_start, observed_flow_usd, baseline_mean_usd, baseline_stddev_usd, z_score, tx_count,
           bucket_count AS baseline_windows, observation_count AS observations, active_mean_usd, active_stddev_usd,
           if(kind = 'silence', flow_anomalies.silent_windows, NULL) AS silent_windows,
           if(kind = 'silence', longest_silence, NULL) AS longest_silence_windows,
           if(kind = 'silence', flow_anomalies.silence_probability, NULL) AS silence_probability`

/** The position at which a page of anomalies continues: after the one with this window, distance and edge. */
export const FlowAnomalyKey = z.tuple([z.int().min(0).max(END_OF_TIME), z.number().min(0), z.string(), z.string()])
export type FlowAnomalyKey = z.infer<typeof FlowAnomalyKey>

/** Sorts before every anomaly: the start of the first page. */
export const NEWEST_ANOMALY: FlowAnomalyKey = [END_OF_TIME, Number.MAX_VALUE, '', '']

/** The parameters of a page, with the parts of the key that it comes after one by one, as they are bound. */
export const afterParts = <Params extends { after: FlowAnomalyKey }>({
  after: [after_window, after_distance, after_from, after_to],
  ...rest
}: Params) => ({ ...rest, after_window, after_distance, after_from, after_to })

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
        after: FlowAnomalyKey.default(NEWEST_ANOMALY),
        recent_only: z.boolean(),
      })
      .transform(afterParts),
    row: FlowAnomaly,
    sql: `
    SELECT ${ANOMALY_COLUMNS}
    FROM flow_anomalies FINAL
    WHERE window_start <= {as_of: DateTime} AND ${isRecent('window_start', 'as_of')} AND window_start <= {horizon: DateTime} - ${FLOW_WINDOW_SECONDS}
      AND toUnixTimestamp(window_start) <= {after_window: UInt32}
      AND (toUnixTimestamp(window_start) < {after_window: UInt32} OR (-abs(z_score), from_token, to_token) > (-{after_distance: Float64}, {after_from: String}, {after_to: String}))
    ORDER BY window_start DESC, abs(z_score) DESC, from_token, to_token
    LIMIT {limit: UInt32}`,
  }),
  (rows, { limit }) => rows.length === limit,
)

const Windows = z.object({ first: z.date(), last: z.date() })

/** The anomalies of the windows that begin from `first` to `last`, both included; ordered by window, then by address. */
export const anomaliesOfWindows = defineQuery({
  name: 'anomalies_of_windows',
  params: Windows,
  row: FlowAnomaly,
  sql: `
    SELECT ${ANOMALY_COLUMNS}
    FROM flow_anomalies FINAL
    WHERE window_start BETWEEN {first: DateTime} AND {last: DateTime}
    ORDER BY window_start, from_token, to_token`,
})

/**
 * The edges and windows for which a slot of a revision before `revision` found an anomaly, of the windows that begin from `first`
 * to `last`, both included.
 */
export const outdatedAnomalies = defineQuery({
  name: 'outdated_anomalies',
  params: Windows.extend({ revision: z.int() }),
  row: z.object({ window_start: dateTime, from_token: z.string(), to_token: z.string() }),
  // Without FINAL, so that a repeat finds the anomalies that it has already retracted.
  sql: `
    SELECT DISTINCT window_start, from_token, to_token FROM flow_anomalies
    WHERE window_start BETWEEN {first: DateTime} AND {last: DateTime} AND revision < {revision: UInt32} AND is_deleted = 0
    ORDER BY window_start, from_token, to_token`,
})

/** The anomaly as published, in lists and in events. It counts as detected at the end of its window. */
export function publishedAnomaly({ window_start, ...anomaly }: FlowAnomaly) {
  const window_end = isoSeconds(new Date(window_start.getTime() + ANOMALY_WINDOW_MS))
  return { ...anomaly, window_start: isoSeconds(window_start), window_end, detected_at: window_end }
}
