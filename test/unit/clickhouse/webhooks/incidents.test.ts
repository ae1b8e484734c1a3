import { expect, test } from 'vitest'
import { EVENT_TYPES, type EventType } from '../../../../clickhouse/events/types.js'
import { exampleData } from '../../../../clickhouse/webhooks/body.js'
import { incidentOf } from '../../../../clickhouse/webhooks/incidents.js'

const NOW = new Date('2026-03-01T00:00:00Z')
function keyOf(type: EventType, change: Record<string, unknown> = {}): string {
  const { family, subject } = incidentOf(type, { ...exampleData(type, NOW), ...change })
  return `${family} ${subject}`
}

test('a start, its end and the retraction of either are about the same, and other kinds about something else', () => {
  expect(keyOf('peg_break.ended')).toBe(keyOf('peg_break.started'))
  expect(keyOf('event.retracted')).toBe(keyOf('peg_break.started'))
  expect(keyOf('agreed_break.ended')).toBe(keyOf('agreed_break.started'))
  expect(keyOf('peg_quote.back')).toBe(keyOf('peg_quote.lost'))
  expect(new Set(EVENT_TYPES.map((type) => keyOf(type))).size).toBe(EVENT_TYPES.length - 4)
})

test.each([
  ['peg_break.started', { severity: 'mild' }],
  ['peg_break.started', { started_at: '2026-01-01T00:00:00Z' }],
  ['peg_quote.lost', { stable: '0x7e57000000000000000000000000000000000002' }],
  ['flow_anomaly.detected', { window_start: '2026-01-01T00:00:00Z' }],
  ['system.health_drift', { component: 'ingest' }],
] as const)('a %s with another %j is about something else', (type, change) => {
  expect(keyOf(type, change)).not.toBe(keyOf(type))
})
