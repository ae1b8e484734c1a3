import { expect } from 'vitest'
import { passes } from '../../../../clickhouse/events/log.js'
import { EVENT_TYPES, type FoundEvent, healthDriftEvent } from '../../../../clickhouse/events/types.js'
import { randomFor } from '../../../../local/chain/random.js'
import { isoSeconds } from '../../../../process/instants.js'
import { test } from '../../../support/app.js'
import { addEvents, storedEvents } from '../../../support/events.js'
import { addBlocks, addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const URL = '/api/v1/events'
const STABLES = [1, 2, 3].map(stableAddress)

const START = { severity: 'mild', started_at: '2026-01-01T00:00:00Z', max_deviation_bps: 12.34, started_block: 7 }
const END = { ended_at: '2026-01-01T00:10:00Z', ended_block: 17, duration_seconds: 600 }
const LOST = { status: 'no_liquidity', started_at: '2026-01-01T00:00:00Z', started_block: 7 } as const
const UNUSUAL = {
  window_start: '2026-01-01T00:00:00Z',
  window_end: '2026-01-01T00:15:00Z',
  observed_flow_usd: 14,
  tx_count: 2,
  detected_at: '2026-01-01T00:15:00Z',
  kind: 'surge',
  median_active_usd: 1,
  expected_low_usd: 0.5,
  expected_high_usd: 2,
  robust_z: 4,
  tx_count_z: 0,
  is_by_hour: false,
  silent_windows: null,
  p_value: 0.001,
}
const WINDOW = {
  window_start: '2026-01-01T00:00:00Z',
  window_end: '2026-01-01T00:15:00Z',
  observed_flow_usd: 14,
  baseline_mean_usd: 11,
  baseline_stddev_usd: 1,
  z_score: 3,
  tx_count: 2,
  detected_at: '2026-01-01T00:15:00Z',
  kind: 'surge',
  active_mean_usd: 11,
  active_stddev_usd: 1,
  silent_windows: null,
  longest_silence_windows: null,
  silence_probability: null,
  baseline_windows: 10,
  observations: 10,
}
const DRIFT = { component: 'ingest', status: 'behind', lag_blocks: null, lag_seconds: 200 } as const

const DURATIONS = [60, 61, 300, 3600]
const DEVIATIONS = [12.34, 12.35, 50.01, 100]
const STANDING = [0, 1000, 10_000, 1_000_000]

/** Events of every type about random stables. */
function randomEvents(count: number): FoundEvent[] {
  const random = randomFor(1, 'events')
  const [a, b] = [stableAddress(1), stableAddress(2)]
  return Array.from({ length: count }, (_, i) => {
    const type = random.pick(EVENT_TYPES)
    const retracted_type = random.pick(['peg_break.started', 'peg_break.ended', 'flow_anomaly.detected'] as const)
    const occurred_at = new Date(1_767_225_600_000 + random.int(0, 1e6) * 1000)
    const stables = type === 'system.health_drift' ? [] : [random.pick(STABLES)]
    if (/flow_anomaly|unusual_flow/.test(type))
      stables.push(random.pick(STABLES.filter((stable) => stable !== stables[0])))
    const start = {
      ...START,
      severity: random.pick(['mild', 'severe']),
      started_at: isoSeconds(new Date(occurred_at.getTime() - random.pick(DURATIONS) * 1000)),
      max_deviation_bps: random.pick(DEVIATIONS),
      ...(random.chance(0.8) && { standing_tokens: random.pick(STANDING), thin: random.chance(0.5) }),
    }
    const data = {
      'peg_break.started': { stable: stables[0], ...start },
      'peg_break.ended': { stable: stables[0], ...start, ...END },
      'agreed_break.started': { stable: stables[0], direction: 'below', ...START },
      'agreed_break.ended': { stable: stables[0], direction: 'above', ...START, ...END },
      'peg_quote.lost': { stable: stables[0], ...LOST },
      'peg_quote.back': { stable: stables[0], ...LOST, ...END },
      'flow_anomaly.detected': { from_token: stables[0] ?? a, to_token: stables[1] ?? b, ...WINDOW },
      'unusual_flow.detected': { from_token: stables[0] ?? a, to_token: stables[1] ?? b, ...UNUSUAL },
      'system.health_drift': { ...healthDriftEvent(DRIFT, occurred_at, `${i}`).data },
      'event.retracted': {
        retracts: `evt_${i}`,
        retracted_event: retracted_type,
        occurred_at: '2026-01-01T00:05:00Z',
        recorded_at: '2026-01-01T00:05:01.234Z',
        reason: random.pick(['not_found', 'changed']),
        stables,
        original: { stable: stables[0], ...start },
      },
    }[type]
    const event = { id: `evt_${i.toString(16).padStart(32, '0')}`, type, subject: `${i}`, stables, occurred_at, data }
    return type === 'event.retracted' ? { ...event, retracted_type } : event
  })
}

type Page = { events: { id: string; sequence: number }[]; next_after: number; has_more: boolean }
type App = { inject: (url: string) => Promise<{ statusCode: number; json: () => unknown }> }

async function page(app: App, query: Record<string, string | number> = {}): Promise<Page> {
  const response = await app.inject(`${URL}?${new URLSearchParams(query as Record<string, string>)}`)
  expect([query, response.statusCode]).toEqual([query, 200])
  return response.json() as Page
}

test('the log is read in the order it was written, with pages of any length, even while it grows', async ({
  app,
  clickhouse,
}) => {
  expect(await page(app)).toEqual({
    events: [],
    next_after: 0,
    searched_from: null,
    searched_until: null,
    complete_until: null,
    coverage: expect.objectContaining({ status: 'unavailable', measured_from: null }),
    has_more: false,
  })
  const events = randomEvents(40)
  await addEvents(clickhouse, events.slice(0, 30))
  for (const limit of [1, 7, 30, 31]) {
    const ids: string[] = []
    let [after, has_more] = [0, true]
    while (has_more) {
      const next = await page(app, { after, limit })
      ids.push(...next.events.map(({ id }) => id))
      has_more = next.has_more
      after = next.next_after
    }
    expect(ids).toEqual(events.slice(0, 30).map(({ id }) => id))
    expect(await page(app, { after, limit })).toMatchObject({ events: [], next_after: 30, has_more: false })
  }
  const newest = await page(app, { limit: 5 })
  expect(newest.events.map(({ id }) => id)).toEqual(events.slice(25, 30).map(({ id }) => id))
  await addEvents(clickhouse, events)
  const more = await page(app, { after: newest.next_after })
  expect(more.events.map(({ id }) => id)).toEqual(events.slice(30).map(({ id }) => id))
  expect(more.events[0]).toEqual({
    id: events[30]?.id,
    sequence: 31,
    event: events[30]?.type,
    occurred_at: events[30]?.occurred_at.toISOString().replace('.000', ''),
    recorded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    published_at: expect.any(String),
    data: events[30]?.data,
  })
})

test('a filter matches the same events as that of a subscription, and the position in the log still advances', async ({
  app,
  clickhouse,
}) => {
  await addFacts(clickhouse, { stablecoins: STABLES.map((stable, i) => stablecoin(i, { stable })) })
  const events = randomEvents(80)
  await addEvents(clickhouse, events)
  const random = randomFor(2, 'filters')
  let [most, least] = [0, 80]
  for (let i = 0; i < 40; i++) {
    const types = random.chance(0.3) ? undefined : EVENT_TYPES.filter(() => random.chance(0.5))
    const stables = random.chance(0.3) ? undefined : STABLES.filter(() => random.chance(0.4))
    if (types?.length === 0 || stables?.length === 0) continue
    const maybe = <Value>(values: readonly Value[]) => (random.chance(0.5) ? undefined : random.pick(values))
    const breaks = {
      severity: maybe(['mild', 'severe'] as const),
      min_bps: maybe(DEVIATIONS),
      min_seconds: maybe(DURATIONS),
      min_size: maybe([1, 1000, 1001, 1_000_000]),
    }
    const query = {
      ...Object.fromEntries(Object.entries(breaks).filter(([, value]) => value !== undefined)),
      ...(types && { types: types.join(',') }),
      ...(stables && { stable: stables.map((stable) => stable.toUpperCase().replace('X', 'x')).join(',') }),
      limit: 100,
    }
    const expected = events.filter((event) => passes(event, { types, stables, ...breaks })).map(({ id }) => id)
    for (const after of [{}, { after: 0 }]) {
      const { events: found, next_after, has_more } = await page(app, { ...query, ...after })
      expect(found.map(({ id }) => id)).toEqual(expected)
      expect([next_after, has_more]).toEqual([80, false])
    }
    most = Math.max(most, expected.length)
    least = Math.min(least, expected.length)
  }
  expect(most).toBeGreaterThan(40)
  expect(least).toBeLessThan(20)
  expect(await storedEvents(clickhouse)).toHaveLength(80)
})

test('invalid requests are refused, including a position that the log has not reached', async ({ app, clickhouse }) => {
  await addEvents(clickhouse, randomEvents(3))
  const refusal = async (query: string) => {
    const response = await app.inject(`${URL}?${query}`)
    const { parameter, type } = response.json()
    return [response.statusCode, parameter, type.split(':').at(-1)]
  }
  expect(await refusal('after=4')).toEqual([400, 'after', 'bad-parameter'])
  expect((await app.inject(`${URL}?after=3`)).statusCode).toBe(200)
  for (const query of ['after=', 'after=-1', 'after=x', 'after=1.5', 'after=1e99'])
    expect([query, ...(await refusal(query))]).toEqual([query, 400, 'after', 'bad-parameter'])
  expect(await refusal('types=peg_break')).toEqual([400, 'types', 'bad-parameter'])
  expect(await refusal('types=')).toEqual([400, 'types', 'bad-parameter'])
  expect(await refusal('types=peg_sample')).toEqual([400, 'types', 'bad-parameter'])
  expect(await refusal('stable=0x12')).toEqual([400, 'stable', 'bad-parameter'])
  expect(await refusal(`stable=${stableAddress(9)}`)).toEqual([404, 'stable', 'unknown-stable'])
  expect(await refusal('severity=none')).toEqual([400, 'severity', 'bad-parameter'])
  expect(await refusal('min_bps=')).toEqual([400, 'min_bps', 'bad-parameter'])
  expect(await refusal('min_seconds=-1')).toEqual([400, 'min_seconds', 'bad-parameter'])
  expect(await refusal('min_size=0')).toEqual([400, 'min_size', 'bad-parameter'])
  expect(await refusal('limit=501')).toEqual([400, 'limit', 'bad-parameter'])
  expect(await refusal('cursor=1')).toEqual([400, 'cursor', 'bad-parameter'])
})

test('as of an instant, the log has what had occurred by then and nothing later, with and without a position', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 86_400, now])
  // Found in another order than they occurred, as a backfill does.
  const events = randomEvents(30).map((event, i) => ({
    ...event,
    occurred_at: new Date((now - 60 * ((i * 7) % 30)) * 1000),
  }))
  await addEvents(clickhouse, events)
  for (const minutes of [29, 12, 0]) {
    const as_of = now - 60 * minutes
    const expected = events.filter(({ occurred_at }) => occurred_at.getTime() / 1000 <= as_of).map(({ id }) => id)
    expect(expected).toHaveLength(30 - minutes)
    const answer = await page(app, { as_of, limit: 500 })
    expect(answer.events.map(({ id }) => id)).toEqual(expected)
    expect(answer).toMatchObject({ as_of: isoSeconds(new Date(as_of * 1000)) })
    const first = await page(app, { as_of, after: 0, limit: 1 })
    const rest = await page(app, { as_of, after: first.next_after, limit: 500 })
    expect([...first.events, ...rest.events].map(({ id }) => id)).toEqual(expected)
  }
  expect((await app.inject(`${URL}?as_of=${now - 90_000}`)).statusCode).toBe(404)
})

test('since begins with the first event that was recorded at that time or later', async ({
  app,
  clickhouse,
  clock,
}) => {
  await addEvents(clickhouse, randomEvents(12))
  clock.now = new Date(Date.now() + 1000)
  const { events } = (await page(app, { after: 0 })) as unknown as {
    events: { sequence: number; recorded_at: string }[]
  }
  const seconds = [...new Set(events.map(({ recorded_at }) => Math.floor(Date.parse(recorded_at) / 1000)))]
  for (const second of [...seconds, 0]) {
    const since = await page(app, { since: second })
    const wanted = events.filter(({ recorded_at }) => Date.parse(recorded_at) >= second * 1000)
    expect(since.events.map(({ sequence }) => sequence)).toEqual(wanted.map(({ sequence }) => sequence))
    expect(await page(app, { after: since.next_after })).toMatchObject({ events: [] })
  }
  const both = await app.inject(`${URL}?since=1h&after=0`)
  expect([both.statusCode, both.json().parameter]).toEqual([400, 'since'])
  expect((await app.inject(`${URL}?since=2999-01-01`)).statusCode).toBe(400)
})
