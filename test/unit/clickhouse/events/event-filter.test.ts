import { expect, test } from 'vitest'
import { passes } from '../../../../clickhouse/events/log.js'

const [A, B, C] = ['a', 'b', 'c'] as const
const pegBreak = { type: 'peg_break.started', stables: [A] }
const anomaly = { type: 'flow_anomaly.detected', stables: [A, B] }
const health = { type: 'system.health_drift', stables: [] }

test('without a filter every event passes', () => {
  for (const event of [pegBreak, anomaly, health]) expect(passes(event, {})).toBe(true)
})

test('a filter of stables matches either end of a flow, and never excludes events about the service', () => {
  const passing = (stables: string[]) => [pegBreak, anomaly, health].map((event) => passes(event, { stables }))
  expect(passing([A])).toEqual([true, true, true])
  expect(passing([B])).toEqual([false, true, true])
  expect(passing([C])).toEqual([false, false, true])
  expect(passing([C, B])).toEqual([false, true, true])
})

test('a filter of types excludes all other types, also events about the service', () => {
  expect(passes(health, { types: ['peg_break.started'] })).toBe(false)
  expect(passes(pegBreak, { types: ['peg_break.started', 'peg_break.ended'] })).toBe(true)
  expect(passes(pegBreak, { types: ['peg_break.started'], stables: [B] })).toBe(false)
})

test('a retraction passes wherever the event did that it takes back, and where retractions are wanted', () => {
  const retraction = { type: 'event.retracted', stables: [A], retracted_type: 'peg_break.started' }
  expect(passes(retraction, { types: ['peg_break.started'] })).toBe(true)
  expect(passes(retraction, { types: ['event.retracted'] })).toBe(true)
  expect(passes(retraction, { types: ['flow_anomaly.detected', 'peg_break.ended'] })).toBe(false)
  expect(passes(retraction, { types: ['peg_break.started'], stables: [B] })).toBe(false)
})
