import { isoSeconds } from '../../process/instants.js'
import type { EventType } from '../events/types.js'
import { ANOMALY_WINDOW_MS, publishedAnomaly } from '../flows/anomalies.js'

/** The contents of a delivery, except for its number. */
export type WebhookContent = {
  event_type: string
  event_id: string
  /** JSON text, as published. */
  data: string
  published_at: Date
}

/** The body of a delivery: byte for byte the same in all its attempts. */
export function webhookBody(delivery_id: number, { event_type, event_id, data, published_at }: WebhookContent): string {
  return `{"event":${JSON.stringify(event_type)},"data":${data},"delivery_id":${delivery_id},"event_id":${JSON.stringify(event_id)},"published_at":"${published_at.toISOString()}"}`
}

/** No stable has these addresses; 7e57 is the closest that hexadecimal digits come to `test`. */
const TEST_STABLES = [
  '0x7e57000000000000000000000000000000000000',
  '0x7e57000000000000000000000000000000000001',
] as const

const DURATION_SECONDS = 120

function examplePegBreak(now: Date) {
  return {
    stable: TEST_STABLES[0],
    severity: 'severe',
    direction: 'below',
    started_at: isoSeconds(new Date(now.getTime() - DURATION_SECONDS * 1000)),
    max_deviation_bps: 75.5,
    started_block: 1,
  }
}

const EXAMPLE_STANDING = { standing_tokens: 100_000, thin: false }

function exampleAnomaly(now: Date) {
  return publishedAnomaly({
    from_token: TEST_STABLES[0],
    to_token: TEST_STABLES[1],
    kind: 'surge',
    window_start: new Date((Math.floor(now.getTime() / ANOMALY_WINDOW_MS) - 1) * ANOMALY_WINDOW_MS),
    observed_flow_usd: 5000,
    baseline_mean_usd: 1000,
    baseline_stddev_usd: 1000,
    z_score: 4,
    tx_count: 12,
    baseline_windows: 672,
    observations: 600,
    active_mean_usd: 1120,
    active_stddev_usd: 998,
    silent_windows: null,
    longest_silence_windows: null,
    silence_probability: null,
  })
}

function exampleUnusual(now: Date) {
  const { from_token, to_token, window_start, window_end, detected_at } = exampleAnomaly(now)
  return {
    ...{ from_token, to_token, kind: 'surge', window_start, window_end, observed_flow_usd: 5000, tx_count: 12 },
    ...{ median_active_usd: 400, expected_low_usd: 90, expected_high_usd: 2100, robust_z: 3.4, tx_count_z: 4.5 },
    ...{ is_by_hour: true, silent_windows: null, p_value: 0.002, detected_at },
  }
}

/**
 * Example data of an event of this type, with the fields that the type has. Its stables and its component do not exist.
 */
export function exampleData(type: EventType, now: Date): Record<string, unknown> {
  const at = isoSeconds(now)
  const end = { ended_at: at, ended_block: 2, duration_seconds: DURATION_SECONDS }
  const { stable, started_at, started_block } = examplePegBreak(now)
  const exampleLoss = { stable, status: 'no_liquidity', started_at, started_block }
  switch (type) {
    case 'peg_break.started':
      return { ...examplePegBreak(now), ...EXAMPLE_STANDING }
    case 'peg_break.ended':
      return { ...examplePegBreak(now), ...EXAMPLE_STANDING, ...end }
    case 'agreed_break.started':
      return examplePegBreak(now)
    case 'agreed_break.ended':
      return { ...examplePegBreak(now), ...end }
    case 'peg_quote.lost':
      return exampleLoss
    case 'peg_quote.back':
      return { ...exampleLoss, ...end }
    case 'flow_anomaly.detected':
      return exampleAnomaly(now)
    case 'unusual_flow.detected':
      return exampleUnusual(now)
    case 'system.health_drift':
      return { component: 'test', status: 'ok', lag_blocks: null, lag_seconds: null, detected_at: at }
    case 'event.retracted':
      return {
        retracts: `evt_test_${'0'.repeat(27)}`,
        retracted_event: 'peg_break.started',
        stables: [TEST_STABLES[0]],
        occurred_at: at,
        recorded_at: now.toISOString(),
        reason: 'not_found',
        original: { ...examplePegBreak(now), ...EXAMPLE_STANDING },
      }
  }
}
