import { expect, test } from 'vitest'
import { levelOf } from '../../../../clickhouse/events/levels.js'

test.each([
  ['peg_break.started', { severity: 'severe' }, 'critical'],
  ['peg_break.ended', { severity: 'severe' }, 'critical'],
  ['agreed_break.started', { severity: 'mild' }, 'warning'],
  ['peg_break.started', {}, 'warning'],
  ['peg_quote.lost', {}, 'critical'],
  ['peg_quote.back', {}, 'critical'],
  ['system.health_drift', { component: 'ingest', status: 'ok' }, 'critical'],
  ['system.health_drift', { component: 'sampling' }, 'critical'],
  ['system.health_drift', { component: 'job:risk' }, 'warning'],
  ['flow_anomaly.detected', { kind: 'surge' }, 'info'],
])('%s with %j is %s, and so is its retraction', (type, data, level) => {
  expect(levelOf({ type, data })).toBe(level)
  expect(levelOf({ type: 'event.retracted', data: { retracted_event: type, original: data } })).toBe(level)
})
