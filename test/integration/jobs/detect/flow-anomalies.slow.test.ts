import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import type { Flow } from '../../../../clickhouse/flows/flows.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowAnomaliesOracle } from '../../../../oracle/flow-anomalies.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import {
  anomaliesOf,
  expectAnomalies,
  FLOW_ANOMALIES_JOB as JOB,
  storedFlows,
} from '../../../support/flow-anomalies.js'
import { timesOf, wildFlows } from '../../../support/flow-market.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addBlocks, addFacts, flow, stableAddress } from '../../../support/rows.js'
import { withDatabase } from '../../../support/services.js'
import { runSlots, slotsOf } from '../../../support/slots.js'

const WINDOW = 900
const DAY = 86_400

const test = base.extend<{ end: number }>({
  // The end of a window, some hours ago.
  end: async ({ clock }, use) => use(Math.floor(clock.now.getTime() / 900_000) * 900 - 20 * WINDOW),
})

/** Blocks are numbered by their time. */
async function addMarket(clickhouse: ClickHouseClient, flows: readonly Flow[], until: number): Promise<void> {
  const rows = [...timesOf(flows), until].map((block_time) => ({
    block_number: block_time,
    block_time,
    block_hash: `${block_time}`,
    parent_hash: '',
    tx_count: 1,
    log_count: 1,
  }))
  await insertFacts(clickhouse, 'blocks', rows, `blocks until ${until}`)
  await addFacts(clickhouse, { flows: [...flows] })
}

/** Everything that the detector has written, without the revisions. */
async function stored(clickhouse: ClickHouseClient): Promise<unknown[]> {
  const result = await clickhouse.query({
    query: 'SELECT * EXCEPT revision FROM flow_anomalies FINAL ORDER BY window_start, from_token, to_token',
    format: 'JSONEachRow',
  })
  return result.json()
}

/**
 * USD of the windows before the scored one, the newest last, and of the scored one; null for flows without a value, 0
 * for no flows.
 */
type Case = [baseline: (number | null)[], observed: number | null, z: number | null]

test('scores and the anomaly threshold are exact to the millionth of a dollar', async ({ app, clickhouse, end }) => {
  const ten12 = Array.from({ length: 10 }, (_, i) => (i % 2 ? 12 : 10))
  // 672 times the deviation of a week with ten windows of 10 and 12 in turn and no others.
  const LONG_DEVIATION = Math.sqrt(672 * 1220 - 110 ** 2)
  const cases: Case[] = [
    // Mean 11, standard deviation 1.
    [ten12, 14, 3],
    [ten12, 13.999999, null],
    [ten12, 8, -3],
    [ten12, 8.000001, null],
    // A window without a flow, which no window before was.
    [ten12, 0, -11],
    // Nine observations.
    [ten12.slice(1), 1000, null],
    // Ten of 100 and ten windows without a flow, after the first: mean and standard deviation 50.
    [Array.from({ length: 20 }, (_, i) => (i % 2 ? 0 : 100)), 250, 4],
    [Array.from({ length: 20 }, (_, i) => (i % 2 ? 0 : 100)), 249.999999, null],
    [Array.from({ length: 20 }, (_, i) => (i % 2 ? 0 : 100)), 200, null],
    // The same, but the edge began with its second half.
    [Array.from({ length: 19 }, (_, i) => (i % 2 ? 100 : 0)), 198.6, null],
    // Constant flows have no score.
    [Array(20).fill(7), 1000, null],
    // Windows whose flows have no value are unknown: they do not count, except for the edge's start.
    [[...ten12, null, null, null], 14, 3],
    [[null, ...ten12], 14, 3],
    [[...ten12.slice(1), null], 1000, null],
    [ten12, null, null],
    // More than seven days ago: only the start counts, so that all of 672 windows are there.
    [[1_000_000, ...Array(672).fill(0), ...ten12].slice(0, 683), 15.0123, (15.0123 * 672 - 110) / LONG_DEVIATION],
    [[1_000_000, ...Array(672).fill(0), ...ten12].slice(0, 683), 15.0122, null],
  ]
  const flows = cases.flatMap(([baseline, observed], i) =>
    [...baseline, observed].flatMap((usd, window, all) => {
      const at = end - (all.length - window) * WINDOW
      if (usd === 0) return []
      const value = usd === null ? [null, null] : ['1', `${Math.round(usd * 1e6) - 1}`]
      // One flow is in the first second of the window, the other in the last.
      return [0, WINDOW - 1].map((second, part) => flow(i + 1, 100, at + second, { usd_micros: value[part] ?? null }))
    }),
  )
  await addMarket(clickhouse, flows, end)
  await runSlots(clickhouse, JOB, slotsOf(JOB, end - 1, end))
  const found = await anomaliesOf(app)
  const scores = cases.map(
    (_, i) => found.find(({ from_token }) => from_token === stableAddress(i + 1))?.z_score ?? null,
  )
  expect(scores).toEqual(cases.map(([, , z]) => (z === null ? null : expect.closeTo(z, 9))))
  expect(found.find(({ from_token }) => from_token === stableAddress(1))).toEqual({
    from_token: stableAddress(1),
    to_token: stableAddress(100),
    window_start: new Date((end - WINDOW) * 1000).toISOString().replace('.000', ''),
    window_end: new Date(end * 1000).toISOString().replace('.000', ''),
    observed_flow_usd: 14,
    baseline_mean_usd: 11,
    baseline_stddev_usd: 1,
    z_score: 3,
    tx_count: 2,
    detected_at: new Date(end * 1000).toISOString().replace('.000', ''),
    baseline_windows: 10,
    observations: 10,
    kind: 'surge',
    active_mean_usd: 11,
    active_stddev_usd: 1,
    silent_windows: null,
    longest_silence_windows: null,
    silence_probability: null,
    rules: ['z'],
    published_at: expect.any(String),
  })
})

test('one trade every fifteenth window is never an anomaly, and one window of the silence after it is', async ({
  app,
  clickhouse,
  end,
}) => {
  // For more than a week 100 USD in every fifteenth window; then a larger trade on two of the edges, and none on a third.
  const last = end - 120 * WINDOW
  const at = Array.from({ length: 60 }, (_, i) => last - i * 15 * WINDOW)
  const trades = (to: number, usd: number) =>
    at.map((time) =>
      flow(1, to, time + 450, { usd_micros: `${time === last ? usd * 1e6 : 100_000_000}`, log_index: to }),
    )
  const flows = [...trades(2, 100), ...trades(3, 174.22), ...trades(4, 174.2)].sort(
    (a, b) => a.block_time - b.block_time,
  )
  await addMarket(clickhouse, flows, end)
  await runSlots(clickhouse, JOB, slotsOf(JOB, last - 30 * WINDOW, end))
  const found = await anomaliesOf(app)
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
  const silence = { kind: 'silence', window_start: iso(last + 95 * WINDOW), observed_flow_usd: 0 }
  const usual = { silent_windows: 95, longest_silence_windows: 14, silence_probability: 0.001293818 }
  const expected = [2, 4, 3].map((to) => ({ to_token: stableAddress(to), ...silence, ...usual }))
  const surge = { to_token: stableAddress(3), kind: 'surge', window_start: iso(last), observed_flow_usd: 174.22 }
  expect(found).toHaveLength(4)
  for (const one of [...expected, surge]) expect(found).toContainEqual(expect.objectContaining(one))
})

test('nights without a flow are no anomaly, a night that does not end is', async ({ app, clickhouse, end }) => {
  // Eight hours of a flow in every window, sixteen hours of none, for ten days; the last night lasts an hour longer.
  const dusk = end - 68 * WINDOW
  const days = Array.from({ length: 10 }, (_, day) => dusk - day * 96 * WINDOW)
  const flows = days
    .flatMap((to) => Array.from({ length: 32 }, (_, i) => to - (i + 1) * WINDOW))
    .map((time) => flow(1, 2, time + 450, { usd_micros: `${10_000_000 + (time % 7) * 100_000}` }))
    .sort((a, b) => a.block_time - b.block_time)
  await addMarket(clickhouse, flows, end)
  // Of the night before, which ends as usual, every fourth window will do.
  const slots = slotsOf(JOB, end - 2 * DAY, end).filter((_, i, { length }) => i >= length - 70 || i % 4 === 0)
  await runSlots(clickhouse, JOB, slots)
  const found = await anomaliesOf(app)
  const window_start = new Date((dusk + 64 * WINDOW) * 1000).toISOString().replace('.000', '')
  expect(found).toEqual([expect.objectContaining({ kind: 'silence', window_start, silent_windows: 65 })])
})

test('at any moment the anomalies equal those found by a pass over all flows', { timeout: 600_000 }, async ({
  app,
  clickhouse,
  end,
}) => {
  const start = end - 9 * DAY
  const from = end - 1.5 * DAY
  // Random flows hardly ever drop without being silent: an edge with a steady flow does, twice.
  const steady = Array.from({ length: 9 * 96 }, (_, i) => {
    const at = start + i * WINDOW + 450
    const isLow = i % 60 === 0 && at > from
    return flow(20, 21, at, { usd_micros: isLow ? '1000000' : `${100_000_000 + (i % 3) * 1_000_000}`, log_index: 50 })
  })
  const flows = [...wildFlows(3, start, end), ...steady].sort(
    (a, b) => a.block_time - b.block_time || a.log_index - b.log_index,
  )
  await addMarket(clickhouse, flows, end)
  await runSlots(clickhouse, JOB, slotsOf(JOB, from, end))
  const all = flowAnomaliesOracle(await storedFlows(clickhouse), from, end)
  expect(all.filter(({ kind }) => kind === 'surge').length).toBeGreaterThan(5)
  for (const kind of ['drop', 'silence']) expect(all.filter((one) => one.kind === kind).length, kind).toBeGreaterThan(0)

  expectAnomalies(await anomaliesOf(app), all, 'live')
  expectAnomalies(await anomaliesOf(app, { limit: 7 }), all, 'page by page')
  const random = randomFor(3, 'moments')
  for (let i = 0; i < depth('INSTANTS', 20, 200); i++) {
    const asOf = random.chance(0.3) ? Date.parse(random.pick(all).window_start) / 1000 : random.int(from, end + 100)
    const expected = all.filter(({ window_start }) => Date.parse(window_start) / 1000 <= asOf)
    expectAnomalies(await anomaliesOf(app, { as_of: asOf }), expected, `as of ${asOf}`)
  }
})

test('repeated slots change nothing, and after a rollback they find the same as a fresh start', {
  timeout: 600_000,
}, async ({ app, clickhouse, end }) => {
  const start = end - 3 * DAY
  const old = wildFlows(5, start, end)
  await addMarket(clickhouse, old, end)
  const slots = slotsOf(JOB, end - DAY, end)
  await runSlots(clickhouse, JOB, slots)
  const once = await stored(clickhouse)
  expect(once.length).toBeGreaterThan(5)
  const random = randomFor(5, 'again')
  for (let i = 0; i < 15; i++) {
    const slot = random.pick(slots)
    await JOB.task(clickhouse, slot)
    // As if after so long that the token is forgotten.
    await JOB.task(clickhouse, { ...slot, token: `${slot.token}:${i}` })
  }
  expect(await stored(clickhouse)).toEqual(once)

  const kept = end - DAY / 2
  await removeFacts(clickhouse, { from_block: kept + 1, from_time: kept })
  await repairedViews(clickhouse)
  const flows = [
    ...old.filter(({ block_time }) => block_time <= kept),
    ...wildFlows(6, start, end).filter(({ block_time }) => block_time > kept),
  ]
  await addMarket(
    clickhouse,
    flows.filter(({ block_time }) => block_time > kept),
    end + 1,
  )
  const due = slotsOf(JOB, start, end, 1).filter(({ at }) => at.getTime() / 1000 >= kept)
  await runSlots(clickhouse, JOB, due)
  const expected = await withDatabase(async (_, fresh) => {
    await addMarket(fresh, flows, end)
    await runSlots(fresh, JOB, slots)
    return stored(fresh)
  })
  expect(expected).not.toEqual(once)
  expect(await stored(clickhouse)).toEqual(expected)
  // Retracted by the second revision, and again by a repeated slot.
  for (const slot of due.slice(-8)) await JOB.task(clickhouse, { ...slot, token: `${slot.token}:again` })
  expect(await stored(clickhouse)).toEqual(expected)
  expect(await anomaliesOf(app)).toHaveLength(expected.length)
})

test('the list is empty before the first scored window, and there is no answer before history begins', async ({
  app,
  clickhouse,
  end,
}) => {
  const url = '/api/v1/stablecoins/flow-anomalies'
  expect((await app.inject(url)).json()).toMatchObject({ anomalies: [], searched_until: null, next_cursor: null })
  await addBlocks(clickhouse, [end])
  const early = await app.inject(`${url}?as_of=${end - 1}`)
  expect([early.statusCode, early.json().type]).toEqual([404, expect.stringContaining('before-history')])
  const known = await app.inject(`${url}?as_of=${end}`)
  expect([known.statusCode, known.headers['x-service-as-of']]).toEqual([
    200,
    new Date(end * 1000).toISOString().replace('.000', ''),
  ])
  for (const query of [
    'limit=0',
    'limit=501',
    'cursor=x',
    'as_of=tomorrow',
    'hours=1',
    `cursor=${Buffer.from('[1,2]').toString('base64url')}`,
  ])
    expect([query, (await app.inject(`${url}?${query}`)).statusCode]).toEqual([query, 400])
})
