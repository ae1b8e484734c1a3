import { isoSeconds } from '../../process/instants.js'
import type { EventType } from '../events/types.js'
import { ANOMALY_WINDOW_MS, publishedAnomaly } from '../flows/anomalies.js'

/** What is sent in a delivery, beside its number. */
export type WebhookContent = {
  event_type: string
  event_id: string
  /** JSON, as it is published. */
  data: string
}

/** The body of a delivery: the same over all its attempts, to the byte. */
export const webhookBody = (delivery_id: number, { event_type, event_id, data }: WebhookContent): string =>
  `{"event":${JSON.stringify(event_type)},"data":${data},"delivery_id":${delivery_id},"event_id":${JSON.stringify(event_id)}}`

/** No stables have these addresses, which begin with `test` as far as hexadecimal digits can. */
const TEST_STABLES = [
  '0x7e57000000000000000000000000000000000000',
  '0x7e57000000000000000000000000000000000001',
] as const

const DURATION_SECONDS = 120

function examplePegBreak(now: Date) {
  return {
    stable: TEST_STABLES[0],
    severity: 'severe',
    started_at: isoSeconds(new Date(now.getTime() - DURATION_SECONDS * 1000)),
    max_deviation_bps: 75.5,
    started_block: 1,
  }
}

function exampleAnomaly(now: Date) {
  return publishedAnomaly({
    from_token: TEST_STABLES[0],
    to_token: TEST_STABLES[1],
    window_start: new Date((Math.floor(now.getTime() / ANOMALY_WINDOW_MS) - 1) * ANOMALY_WINDOW_MS),
    observed_flow_usd: 5000,
    baseline_mean_usd: 1000,
    baseline_stddev_usd: 1000,
    z_score: 4,
    tx_count: 12,
    baseline_windows: 672,
    observations: 600,
  })
}

/**
 * Made-up data of an event at a time, in the shape that its type has: of stables that there are not, and a part of the
 * service that there is not.
 */
export function exampleData(type: EventType, now: Date): Record<string, unknown> {
  const at = isoSeconds(now)
  switch (type) {
    case 'peg_break.started':
      return examplePegBreak(now)
    case 'peg_break.ended': {
      const end = { ended_at: at, ended_block: 2, duration_seconds: DURATION_SECONDS, retracted: false }
      return { ...examplePegBreak(now), ...end }
    }
    case 'flow_anomaly.detected':
      return exampleAnomaly(now)
    case 'system.health_drift':
      return { component: 'test', status: 'ok', lag_blocks: null, lag_seconds: null, detected_at: at }
  }
}
