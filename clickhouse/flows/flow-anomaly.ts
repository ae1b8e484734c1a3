import { isoSeconds } from '../../process/instants.js'

/** Length of the windows that are scored. */
export const ANOMALY_WINDOW_MS = 900_000

/** An anomaly as stored, its figures computed. */
type StoredAnomaly = {
  from_token: string
  to_token: string
  window_start: Date
  observed_flow_usd: number
  baseline_mean_usd: number
  baseline_stddev_usd: number
  z_score: number
  tx_count: number
  baseline_windows: number
  observations: number
}

/** An anomaly as published, in lists and in events. */
export type PublishedAnomaly = Omit<StoredAnomaly, 'window_start'> & {
  window_start: string
  window_end: string
  detected_at: string
}

/** An anomaly is found as of the end of its window. */
export function publishedAnomaly({ window_start, ...anomaly }: StoredAnomaly): PublishedAnomaly {
  const window_end = isoSeconds(new Date(window_start.getTime() + ANOMALY_WINDOW_MS))
  return { ...anomaly, window_start: isoSeconds(window_start), window_end, detected_at: window_end }
}
