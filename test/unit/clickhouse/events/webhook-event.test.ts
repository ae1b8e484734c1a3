import { expect, test } from 'vitest'
import { levelOf } from '../../../../clickhouse/events/levels.js'
import {
  breakEvents,
  flowAnomalyEvent,
  healthDriftEvent,
  publishedEvent,
  quoteLossEvents,
  retractionOf,
} from '../../../../clickhouse/events/types.js'

const START = 1_760_000_040
const at = (seconds: number): string => new Date((START + seconds) * 1000).toISOString().replace('.000', '')
const STABLE = `0x20c1${'0'.repeat(35)}1`

const broken = {
  stable: STABLE,
  severity: 'severe' as const,
  direction: 'below' as const,
  started_at: START,
  started_block: 17,
  confirmed_at: START + 60,
  ended_at: START + 300,
  ended_block: 22,
  max_deviation_micros: 12_345,
  standing_tokens: 1000,
}
const start = {
  stable: STABLE,
  severity: 'severe',
  direction: 'below',
  started_at: at(0),
  started_block: 17,
  max_deviation_bps: 123.45,
  standing_tokens: 1000,
  thin: true,
}

test('a peg break is announced in the slot in which it is confirmed, and in the one in which it ends', () => {
  const slots = [0, 60, 120, 240, 300, 360]
  const told = slots.map((after, i) => {
    const span = { after: START + after, at: START + (slots[i + 1] ?? 480) }
    return breakEvents('published', broken, span).map(({ type }) => type)
  })
  expect(told).toEqual([['peg_break.started'], [], [], ['peg_break.ended'], [], []])
  const whole = breakEvents('published', broken, { after: START, at: START + 300 })
  expect(whole.map(({ data, occurred_at }) => [occurred_at, data])).toEqual([
    [new Date((START + 60) * 1000), start],
    [new Date((START + 300) * 1000), { ...start, ended_at: at(300), ended_block: 22, duration_seconds: 300 }],
  ])
  const { standing_tokens: _, thin: __, ...unknown } = start
  const unmeasured = { ...broken, standing_tokens: null }
  expect(breakEvents('published', unmeasured, { after: START, at: START + 60 })[0]?.data).toEqual(unknown)
  const standing = { ...broken, standing_tokens: 10_000 }
  expect(breakEvents('published', standing, { after: START, at: START + 60 })[0]?.data.thin).toBe(false)
  expect(breakEvents('published', { ...broken, confirmed_at: null }, { after: START, at: START + 300 })).toEqual([])
})

test('the id of an event depends only on its subject, and on nothing that may change', () => {
  const span = { after: START, at: START + 300 }
  const [started, ended] = breakEvents('published', broken, span)
  const other = {
    ...broken,
    confirmed_at: START + 61,
    ended_at: START + 200,
    ended_block: 21,
    max_deviation_micros: 6000,
  }
  expect(breakEvents('published', other, span).map(({ id }) => id)).toEqual([started?.id, ended?.id])
  const changes = [
    { stable: `0x20c1${'0'.repeat(35)}2` },
    { severity: 'mild' as const },
    { started_at: START + 1 },
    { started_block: 18 },
  ]
  const ids = changes.flatMap((change) => breakEvents('published', { ...broken, ...change }, span).map(({ id }) => id))
  expect(new Set([...ids, started?.id, ended?.id]).size).toBe(10)
  for (const id of ids) expect(id).toMatch(/^evt_[0-9a-f]{32}$/)
})

test('a break on the agreed track and a lost quote have events of their own, with ids of their own', () => {
  const span = { after: START, at: START + 300 }
  const seen = { first_at: START - 60, first_block: 16, inside_at: START - 60, inside_block: 16 }
  const agreed = breakEvents('agreed', { ...broken, standing_tokens: null }, span)
  const end = { ended_at: at(300), ended_block: 22, duration_seconds: 300 }
  const { standing_tokens: _, thin: __, ...said } = start
  expect(agreed.map(({ type, data }) => [type, data])).toEqual([
    ['agreed_break.started', said],
    ['agreed_break.ended', { ...said, ...end }],
  ])
  const loss = { ...broken, seen, kind: 'unquoted' as const, direction: null, max_deviation_bps: null }
  const lost = quoteLossEvents({ ...loss, status: 'no_liquidity' }, span)
  const begun = { stable: STABLE, status: 'no_liquidity', started_at: at(0), started_block: 17 }
  expect(lost.map(({ type, data }) => [type, data])).toEqual([
    ['peg_quote.lost', begun],
    ['peg_quote.back', { ...begun, ...end }],
  ])
  expect(quoteLossEvents({ ...loss, status: 'no_liquidity', ended_at: null, ended_block: null }, span)).toHaveLength(1)
  expect(breakEvents('agreed', broken, { after: START + 60, at: START + 299 })).toEqual([])
  const all = [...agreed, ...lost, ...breakEvents('published', broken, span)]
  expect(new Set(all.map(({ id }) => id)).size).toBe(6)
  expect(new Set(all.map(({ subject }) => subject)).size).toBe(3)
})

test('an anomaly is announced once per edge and window, whatever its figures', () => {
  const stored = {
    from_token: STABLE,
    to_token: `0x20c1${'0'.repeat(35)}2`,
    window_start: new Date(START * 1000),
    observed_flow_usd: 14,
    baseline_mean_usd: 11,
    baseline_stddev_usd: 1,
    z_score: 3,
    tx_count: 2,
    kind: 'surge' as const,
    active_mean_usd: 11,
    active_stddev_usd: 1,
    silent_windows: null,
    longest_silence_windows: null,
    silence_probability: null,
    baseline_windows: 10,
    observations: 10,
  }
  const event = flowAnomalyEvent(stored)
  expect(event).toMatchObject({
    type: 'flow_anomaly.detected',
    stables: [stored.from_token, stored.to_token],
    occurred_at: new Date((START + 900) * 1000),
    data: { ...stored, window_start: at(0), window_end: at(900), detected_at: at(900) },
  })
  expect(flowAnomalyEvent({ ...stored, z_score: -4 }).id).toBe(event.id)
  const [from_token, to_token] = [stored.to_token, stored.from_token]
  expect(flowAnomalyEvent({ ...stored, from_token, to_token }).id).not.toBe(event.id)
})

test('a retraction has the id, type, times, stables and data of the event that it takes back, and one id', () => {
  const [started] = breakEvents('published', broken, { after: START, at: START + 60 })
  if (!started) throw new Error('no event')
  const announced = { ...started, recorded_at: new Date(START * 1000 + 65_432) }
  const retraction = retractionOf(announced, 'not_found')
  expect(retraction).toMatchObject({
    type: 'event.retracted',
    retracted_type: 'peg_break.started',
    stables: [STABLE],
    occurred_at: started.occurred_at,
    data: {
      retracts: started.id,
      retracted_event: 'peg_break.started',
      occurred_at: at(60),
      recorded_at: at(65).replace('Z', '.432Z'),
      reason: 'not_found',
      stables: [STABLE],
      original: start,
    },
  })
  expect(retractionOf({ ...announced, recorded_at: new Date(0) }, 'changed').id).toBe(retraction.id)
  expect(retractionOf({ ...announced, id: 'evt_2' }, 'not_found').id).not.toBe(retraction.id)
})

test('a service state that recurs is a new event, and a change that is seen twice is one event', () => {
  const behind = { component: 'ingest', status: 'behind', lag_blocks: null, lag_seconds: 200 } as const
  const seen = new Date(START * 1000)
  const first = healthDriftEvent(behind, seen, '')
  expect(healthDriftEvent({ ...behind, lag_seconds: 201 }, new Date(START * 1000 + 900), '').id).toBe(first.id)
  const well = healthDriftEvent({ ...behind, status: 'ok' }, seen, first.id)
  const again = healthDriftEvent(behind, seen, well.id)
  expect(new Set([first.id, well.id, again.id]).size).toBe(3)
  expect(first).toMatchObject({ stables: [], data: { ...behind, detected_at: at(0) } })
})

test('an event is published under its id, with its position in the log', () => {
  const [event] = breakEvents('published', broken, { after: START, at: START + 60 })
  if (!event) throw new Error('no event')
  const recorded_at = new Date(START * 1000 + 65_432)
  expect(publishedEvent({ ...event, sequence: 7, recorded_at })).toEqual({
    id: event.id,
    sequence: 7,
    event: 'peg_break.started',
    occurred_at: at(60),
    recorded_at: recorded_at.toISOString(),
    published_at: recorded_at.toISOString(),
    data: start,
  })
})

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
