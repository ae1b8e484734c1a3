import { expect } from 'vitest'
import { insertEvents, knownEvents } from '../../../../clickhouse/events/log.js'
import { flowAnomalyEvent } from '../../../../clickhouse/events/types.js'
import { test } from '../../../support/services.js'

test('events are known among more ids than fit into one request', async ({ clickhouse }) => {
  const event = flowAnomalyEvent({
    from_token: '0xa',
    to_token: '0xb',
    window_start: '2025-10-09T09:00:00Z',
    window_end: '2025-10-09T09:15:00Z',
    detected_at: '2025-10-09T09:15:00Z',
    observed_flow_usd: 1,
    baseline_mean_usd: 0,
    baseline_stddev_usd: 1,
    z_score: 3,
    tx_count: 1,
    baseline_windows: 672,
    observations: 10,
    kind: 'surge',
    active_mean_usd: 0,
    active_stddev_usd: 1,
    silent_windows: null,
    longest_silence_windows: null,
    silence_probability: null,
  })
  await insertEvents(clickhouse, [{ ...event, slot_at: 1_760_001_300, revision: 0 }], { first: 1 })
  const ids = [...Array.from({ length: 30_000 }, (_, i) => `${i}`.padStart(event.id.length, '0')), event.id]
  expect(await knownEvents(clickhouse, { ids })).toEqual([event.id])
})
