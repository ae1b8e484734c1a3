import { expect, test } from 'vitest'
import { EventShape } from '../../../../api/events/shapes.js'
import { EVENT_TYPES, type EventType } from '../../../../clickhouse/events/types.js'
import { exampleData } from '../../../../clickhouse/webhooks/body.js'
import { type Subscription, sealedSecrets, wants } from '../../../../clickhouse/webhooks/subscriptions.js'

const [A, B, C] = ['0xa', '0xb', '0xc'] as const
const occurred_at = new Date('2026-07-20T16:01:00Z')
const data = { severity: 'severe', started_at: '2026-07-20T16:00:00Z', max_deviation_bps: 60, standing_tokens: 1000 }
const started = { type: 'peg_break.started', stables: [A], occurred_at, data }
const anomaly = { type: 'flow_anomaly.detected', stables: [A, B], occurred_at, data: {} }
const health = { type: 'system.health_drift', stables: [], occurred_at, data: {} }

const ANY = { stable_filter: [], severity: '', min_bps: 0, min_seconds: 0, min_size: 0, min_severity: '' } as const
type Breaks = Partial<Pick<Subscription, 'severity' | 'min_bps' | 'min_seconds' | 'min_size' | 'min_severity'>>
const wanted = (event_types: EventType[], stable_filter: string[] = [], breaks: Breaks = {}) =>
  [started, anomaly, health].map((event) => wants({ ...ANY, ...breaks, event_types, stable_filter }, event))
const ALL: EventType[] = ['peg_break.started', 'flow_anomaly.detected', 'system.health_drift']

test('a subscription receives events of its types only', () => {
  expect(wanted(ALL)).toEqual([true, true, true])
  expect(wanted(['flow_anomaly.detected'])).toEqual([false, true, false])
  expect(wanted(['peg_break.ended'])).toEqual([false, false, false])
  expect(wanted([])).toEqual([false, false, false])
})

test('the stables of a subscription match either end of a flow, and never exclude events about the service', () => {
  expect(wanted(ALL, [A])).toEqual([true, true, true])
  expect(wanted(ALL, [B])).toEqual([false, true, true])
  expect(wanted(ALL, [C])).toEqual([false, false, true])
  expect(wanted(['peg_break.started'], [C, A])).toEqual([true, false, false])
  expect(wanted(['peg_break.started'], [B])).toEqual([false, false, false])
})

test('a subscription receives the peg breaks that it asks for, and all other events of its types', () => {
  expect(wanted(ALL, [], { severity: 'severe', min_bps: 60, min_seconds: 60, min_size: 1000 })).toEqual([
    true,
    true,
    true,
  ])
  expect(wanted(ALL, [], { severity: 'mild' })).toEqual([false, true, true])
  expect(wanted(ALL, [], { min_bps: 60.01 })).toEqual([false, true, true])
  expect(wanted(ALL, [], { min_seconds: 61 })).toEqual([false, true, true])
  expect(wanted(ALL, [], { min_size: 1001 })).toEqual([false, true, true])
})

test('a subscription receives events from its severity on', () => {
  // The break is severe, which is critical; the health has no component, and is a warning; the anomaly is info.
  expect(wanted(ALL, [], { min_severity: 'info' })).toEqual([true, true, true])
  expect(wanted(ALL, [], { min_severity: 'warning' })).toEqual([true, false, true])
  expect(wanted(ALL, [], { min_severity: 'critical' })).toEqual([true, false, false])
})

test('after a rotation the previous secret also signs until it expires', () => {
  const until = new Date('2026-10-02T12:00:00.000Z')
  const rotated = { secret: 'new', previous_secret: 'old', previous_secret_until: until }
  expect(sealedSecrets(rotated, new Date(until.getTime() - 1))).toEqual(['new', 'old'])
  expect(sealedSecrets(rotated, until)).toEqual(['new'])
  expect(sealedSecrets({ secret: 'new', previous_secret: '', previous_secret_until: null }, until)).toEqual(['new'])
})

test('a test event has exactly the fields of its type', () => {
  const now = new Date('2026-09-01T12:07:30.789Z')
  const [occurred_at, recorded_at] = ['2026-09-01T12:07:30Z', '2026-09-01T12:07:30.789Z']
  for (const event of EVENT_TYPES) {
    const data = exampleData(event, now)
    const told = { id: 'evt_test_1', sequence: 0, event, occurred_at, published_at: occurred_at, recorded_at, data }
    expect(EventShape.parse(told)).toEqual(told)
    expect(JSON.stringify(data)).toMatch(/7e57|"test"/)
  }
})
