import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { insertEvents, knownEvents } from '../../../../clickhouse/events/log.js'
import { breakEvents, type FoundEvent, flowAnomalyEvent } from '../../../../clickhouse/events/types.js'
import { insertJobRun } from '../../../../clickhouse/jobs/runs.js'
import { insertRows } from '../../../../clickhouse/store/insert.js'
import { test } from '../../../support/app.js'
import { SURGE } from '../../../support/events.js'
import { addBlocks, addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const [A, B] = [stableAddress(1), stableAddress(2)]
const HOUR = 3600

/** An hour in the past, to the mark. */
const startOf = ({ now }: { now: Date }): number => Math.floor(now.getTime() / 1000 / HOUR) * HOUR - 2 * HOUR
const iso = (at: number): string => new Date(at * 1000).toISOString()

/** Adds events to the log, recorded at these times in unix seconds. */
async function record(
  clickhouse: ClickHouseClient,
  events: readonly [number, Omit<FoundEvent, 'type'> & { type: string }][],
): Promise<void> {
  for (const [i, [at, { data, occurred_at, ...event }]] of events.entries()) {
    const times = { occurred_at: occurred_at.getTime() / 1000, slot_at: at, recorded_at: at.toFixed(3) }
    const row = { ...event, ...times, sequence_number: i + 1, data: JSON.stringify(data), revision: 0 }
    await insertRows(clickhouse, 'events', [row], `${i}`)
  }
}

const done = (clickhouse: ClickHouseClient, job: string, slot_at: number, at: number): Promise<void> =>
  insertJobRun(clickhouse, {
    job,
    slot_at,
    revision: 0,
    state: 'done',
    result_rows: 0,
    error: '',
    started_at: at.toFixed(3),
    duration_ms: 0,
    instance: 'test',
  })

test('anomalies and breaks with known_at are those announced by then; what is retracted later still stood', async ({
  app,
  clickhouse,
  clock,
}) => {
  const start = startOf(clock)
  await addBlocks(clickhouse, [start - HOUR, start + HOUR])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2)] })
  const anomaly = flowAnomalyEvent({
    from_token: A,
    to_token: B,
    window_start: new Date(start * 1000),
    ...SURGE,
    z_score: 10,
  })
  const open = {
    stable: A,
    severity: 'mild' as const,
    direction: 'above' as const,
    started_at: start,
    started_block: 7,
    confirmed_at: start + 300,
    ended_at: null,
    ended_block: null,
    max_deviation_micros: 2000,
    standing_tokens: 10_000,
  }
  const over = { ...open, ended_at: start + 600, ended_block: 9, max_deviation_micros: 4000 }
  const [started] = breakEvents('published', open, { after: start, at: start + 400 }) as [FoundEvent]
  const [ended] = breakEvents('published', over, { after: start + 400, at: start + 700 }) as [FoundEvent]
  const retraction = { ...anomaly, id: 'evt_r', type: 'event.retracted', subject: anomaly.id, data: {} }
  await record(clickhouse, [
    [start + 500, started],
    [start + 800, ended],
    [start + 1000, anomaly],
    [start + 2000, retraction],
  ])
  await done(clickhouse, 'peg-events', start + 480, start + 490)
  await done(clickhouse, 'peg-events', start + 720, start + 790)
  await done(clickhouse, 'flow-anomalies', start + 900, start + 990)

  const get = async (path: string) => (await app.inject(`/api/v1/${path}`)).json()
  const anomalies = async (query: string) => get(`stablecoins/flow-anomalies?${query}`)
  expect(await anomalies(`known_at=${start + 999}`)).toMatchObject({
    anomalies: [],
    scored_until: iso(start + 900).replace('.000', ''),
  })
  const known = await anomalies(`known_at=${start + 1000}`)
  expect(known.anomalies).toEqual([{ ...anomaly.data, rules: ['z'], published_at: iso(start + 1000) }])
  expect((await anomalies(`as_of=${start - 1}&known_at=${start + 1000}`)).anomalies).toEqual([])
  expect((await anomalies(`known_at=${start + 2000}`)).anomalies).toEqual([])
  expect(await anomalies(`known_at=${start + 989}`)).toMatchObject({ status: 404, parameter: 'known_at' })

  const breaks = async (query: string) => get(`stablecoins/${A}/peg-events?${query}`)
  expect((await breaks(`known_at=${start + 499}`)).events).toEqual([])
  const ongoing = {
    direction: 'above',
    started_at: iso(start).replace('.000', ''),
    ended_at: null,
    ongoing: true,
    max_deviation_bps: 20,
  }
  // As far as it had been searched by then.
  expect((await breaks(`known_at=${start + 799}`)).events).toMatchObject([
    { ...ongoing, duration_seconds: 720, published_at: iso(start + 500) },
  ])
  expect((await breaks(`known_at=${start + 800}`)).events).toMatchObject([
    { ongoing: false, duration_seconds: 600, max_deviation_bps: 40, standing_tokens: 10_000, thin: false },
  ])
  // At the time asked about, it was ongoing.
  expect((await breaks(`as_of=${start + 400}&known_at=${start + 800}`)).events).toMatchObject([
    { ...ongoing, duration_seconds: 400 },
  ])
  // A filter sees what had been announced by then: 20 bps and 720 s, later 40 bps and 600 s.
  const found = async (query: string) => (await breaks(query)).events.length
  for (const [known_at, bps, seconds] of [
    [start + 799, 20, 720],
    [start + 800, 40, 600],
  ] as const) {
    const known = `known_at=${known_at}`
    expect(await found(`${known}&severity=mild&min_bps=${bps}&min_seconds=${seconds}&min_size=10000`)).toBe(1)
    for (const query of ['severity=severe', `min_bps=${bps + 0.01}`, `min_seconds=${seconds + 1}`, 'min_size=10001'])
      expect([query, await found(`${known}&${query}`)]).toEqual([query, 0])
  }
  expect(await breaks(`known_at=${start + 489}`)).toMatchObject({ status: 404, parameter: 'known_at' })

  const log = await get(`events?known_at=${start + 1999}`)
  expect(log).toMatchObject({ next_after: 3, known_at: iso(start + 1999).replace('.000', '') })
  expect(log.events.map(({ published_at }: { published_at: string }) => published_at)).toEqual(
    [start + 500, start + 800, start + 1000].map(iso),
  )
  expect((await get(`events?after=2&known_at=${start + 999}`)).events).toEqual([])
  expect(await get(`events?after=3&known_at=${start + 999}`)).toMatchObject({ status: 400, parameter: 'after' })
})

test('events are known among more ids than fit into one request', async ({ clickhouse }) => {
  const event = flowAnomalyEvent({
    from_token: '0xa',
    to_token: '0xb',
    window_start: new Date('2025-10-09T09:00:00Z'),
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
