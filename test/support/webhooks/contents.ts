import type { EventType } from '../../../clickhouse/events/types.js'
import type { WebhookContent } from '../../../clickhouse/webhooks/body.js'
import { digestData } from '../../../clickhouse/webhooks/digests.js'

const [A, B] = ['0x20c0000000000000000000000000000000000001', '0x20c0000000000000000000000000000000000002'] as const
export const NAMES = new Map<string, string>([
  [A, 'AlphaUSD'],
  [B, 'USDC.e'],
])

const start = {
  stable: A,
  severity: 'severe',
  direction: 'below',
  started_at: '2026-07-20T16:00:00Z',
  max_deviation_bps: 63.5,
  started_block: 4711,
  standing_tokens: 100_000,
  thin: false,
}
const end = { ended_at: '2026-07-20T17:03:20Z', ended_block: 9310, duration_seconds: 3800 }
const loss = { stable: B, status: 'no_liquidity', started_at: '2026-07-20T16:00:00Z', started_block: 4711 }
const RETRACTED = {
  retracts: 'evt_00000000000000000000000000000000',
  retracted_event: 'peg_break.started',
  stables: [A],
  occurred_at: '2026-07-20T16:01:00Z',
  recorded_at: '2026-07-20T16:02:03.456Z',
  reason: 'not_found',
  original: start,
}

/** Data of every type of event. */
export const DATA: Record<EventType, Record<string, unknown>> = {
  'peg_break.started': start,
  'peg_break.ended': { ...start, max_deviation_bps: 71.25, ...end },
  'agreed_break.started': {
    stable: A,
    severity: 'mild',
    direction: 'above',
    started_at: start.started_at,
    max_deviation_bps: 12,
    started_block: 4711,
  },
  'agreed_break.ended': {
    stable: A,
    severity: 'mild',
    direction: 'above',
    started_at: start.started_at,
    max_deviation_bps: 12.5,
    started_block: 4711,
    ...end,
  },
  'peg_quote.lost': loss,
  'peg_quote.back': { ...loss, ...end },
  'flow_anomaly.detected': {
    from_token: A,
    to_token: B,
    kind: 'surge',
    window_start: '2026-07-20T16:00:00Z',
    window_end: '2026-07-20T16:15:00Z',
    observed_flow_usd: 1_250_000.5,
    baseline_mean_usd: 10_400,
    baseline_stddev_usd: 98_000,
    z_score: 12.65,
    tx_count: 31,
    detected_at: '2026-07-20T16:15:00Z',
    baseline_windows: 672,
    observations: 640,
    active_mean_usd: 10_920,
    active_stddev_usd: 100_300,
    silent_windows: null,
    longest_silence_windows: null,
    silence_probability: null,
  },
  'unusual_flow.detected': {
    from_token: A,
    to_token: B,
    kind: 'surge',
    window_start: '2026-07-20T16:00:00Z',
    window_end: '2026-07-20T16:15:00Z',
    observed_flow_usd: 1_250_000.5,
    tx_count: 31,
    median_active_usd: 9_850.25,
    expected_low_usd: 310.5,
    expected_high_usd: 212_000,
    robust_z: 4.15,
    tx_count_z: 6.2,
    is_by_hour: true,
    silent_windows: null,
    p_value: 0.00042,
    detected_at: '2026-07-20T16:15:00Z',
  },
  'system.health_drift': {
    component: 'ingest',
    status: 'behind',
    lag_blocks: 700,
    lag_seconds: 350,
    detected_at: '2026-07-20T16:02:00Z',
  },
  'event.retracted': RETRACTED,
}

/** An event of a type, as it is stored with a delivery. */
export const contentOf = (event_type: EventType, changes: Record<string, unknown> = {}): WebhookContent => ({
  event_type,
  event_id: 'evt_0123456789abcdef0123456789abcdef',
  data: JSON.stringify({ ...DATA[event_type], ...changes }),
  published_at: new Date('ended_at' in DATA[event_type] ? '2026-07-20T17:04:02.123Z' : '2026-07-20T16:02:03.456Z'),
})

/** A digest of events that were held as deliveries 1, 2, …, as it is stored. */
export const digestOf = (contents: readonly WebhookContent[]): WebhookContent => ({
  event_type: 'digest',
  event_id: 'dig_0123456789abcdef0123456789abcdef',
  data: JSON.stringify(digestData(contents.map((content, i) => ({ delivery_id: i + 1, content })))),
  published_at: new Date('2026-07-21T05:00:00.123Z'),
})
