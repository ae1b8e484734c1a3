import { expect, test } from 'vitest'
import { passes } from '../../../../clickhouse/events/log.js'

const [A, B, C] = ['a', 'b', 'c'] as const
const START = { severity: 'mild', started_at: '2026-07-20T16:00:00Z', max_deviation_bps: 12.34, standing_tokens: 1000 }
const occurred_at = new Date('2026-07-20T16:05:00Z')
const pegBreak = { type: 'peg_break.started', stables: [A], occurred_at, data: START }
const anomaly = { type: 'flow_anomaly.detected', stables: [A, B], occurred_at, data: {} }
const health = { type: 'system.health_drift', stables: [], occurred_at, data: {} }

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
  const retraction = {
    ...pegBreak,
    type: 'event.retracted',
    retracted_type: 'peg_break.started',
    data: { original: START },
  }
  expect(passes(retraction, { types: ['peg_break.started'] })).toBe(true)
  expect(passes(retraction, { types: ['event.retracted'] })).toBe(true)
  expect(passes(retraction, { types: ['flow_anomaly.detected', 'peg_break.ended'] })).toBe(false)
  expect(passes(retraction, { types: ['peg_break.started'], stables: [B] })).toBe(false)
})

test('a filter of breaks is judged by what the event says, at the limit itself too, and concerns no other event', () => {
  const ended = { ...pegBreak, type: 'peg_break.ended', occurred_at: new Date('2026-07-20T16:10:00Z') }
  const retraction = {
    ...pegBreak,
    type: 'event.retracted',
    retracted_type: 'peg_break.started',
    data: { original: START },
  }
  const others = [anomaly, health, { ...retraction, retracted_type: 'flow_anomaly.detected' }]
  const cases = [
    [{ severity: 'mild' }, true, true],
    [{ severity: 'severe' }, false, false],
    [{ min_bps: 12.34 }, true, true],
    [{ min_bps: 12.35 }, false, false],
    [{ min_seconds: 300 }, true, true],
    [{ min_seconds: 301 }, false, true],
    [{ min_seconds: 600 }, false, true],
    [{ min_seconds: 601 }, false, false],
    [{ severity: 'mild', min_bps: 12, min_seconds: 301 }, false, true],
    [{ severity: 'severe', min_bps: 1, min_seconds: 1 }, false, false],
    [{ min_size: 1000 }, true, true],
    [{ min_size: 1001 }, false, false],
    [{ severity: '', min_bps: 0, min_seconds: 0, min_size: 0 }, true, true],
  ] as const
  const agreed = { ...pegBreak, type: 'agreed_break.started' }
  for (const [filter, start, end] of cases) {
    expect(passes(agreed, filter)).toBe(start)
    const found = [pegBreak, retraction, ended].map((event) => passes(event, filter))
    expect([filter, ...found]).toEqual([filter, start, start, end])
    expect(others.map((event) => passes(event, filter))).toEqual([true, true, true])
  }
})

test('whoever asks for peg breaks gets neither agreed breaks nor lost quotes', () => {
  const types = ['peg_break.started', 'peg_break.ended']
  for (const type of ['agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back']) {
    expect(passes({ ...pegBreak, type }, { types })).toBe(false)
    const retraction = { ...pegBreak, type: 'event.retracted', retracted_type: type, data: { original: START } }
    expect(passes(retraction, { types })).toBe(false)
    expect(passes({ ...pegBreak, type }, { types: [type] })).toBe(true)
  }
})

test('an event that does not say what is asked about a break does not pass', () => {
  const silent = { ...pegBreak, data: {} }
  for (const filter of [{ severity: 'mild' as const }, { min_bps: 1 }, { min_seconds: 1 }, { min_size: 1 }])
    expect(passes(silent, filter)).toBe(false)
  expect(passes(silent, {})).toBe(true)
  expect(passes({ ...silent, type: 'event.retracted', retracted_type: 'peg_break.started' }, { min_bps: 1 })).toBe(
    false,
  )
})
