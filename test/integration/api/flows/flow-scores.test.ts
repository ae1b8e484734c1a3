import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import type { Flow } from '../../../../clickhouse/flows/flows.js'
import { PERIOD_SECONDS } from '../../../../clickhouse/jobs/periods.js'
import { detectUnusualFlows } from '../../../../jobs/detect/unusual-flows.js'
import { randomFor } from '../../../../local/chain/random.js'
import { flowScoresOracle } from '../../../../oracle/flow-scores.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { storedEvents } from '../../../support/events.js'
import { anomaliesOf, FLOW_ANOMALIES_JOB, storedFlows } from '../../../support/flow-anomalies.js'
import { wildFlows } from '../../../support/flow-market.js'
import { addFlows, expectScores, scoresOf } from '../../../support/flow-scores.js'
import { repairedViews } from '../../../support/repair-views.js'
import { addFacts, flow, stableAddress, stablecoin } from '../../../support/rows.js'
import { runSlots, slotsOf } from '../../../support/slots.js'

const WINDOW = 900
const INSTANTS = depth('INSTANTS', 10, 15)
const DAY = 86_400
const URL = '/api/v1/stablecoins/flows/scores'

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '')

const test = base.extend<{ end: number }>({
  // The end of a window, some hours ago.
  end: async ({ clock }, use) => use(Math.floor(clock.now.getTime() / 900_000) * 900 - 20 * WINDOW),
})

/** A trade of this value in each of `count` windows, one in `every`, the newest of which begins at `last`. */
const trades = (to: number, last: number, count: number, every: number, usdOf: (i: number) => string | null): Flow[] =>
  Array.from({ length: count }, (_, i) =>
    flow(20, to, last - i * every * WINDOW + 450, { usd_micros: usdOf(i), log_index: to }),
  )

/** Edges that random flows hardly ever have: ties, constants, zeros, giants, unknown values, and days with a night. */
function strangeFlows(seed: number, start: number, end: number): Flow[] {
  const last = end - WINDOW
  const windows = Math.floor((end - start) / WINDOW) - 1
  const random = randomFor(seed, 'strange')
  const giant = 2n ** 80n
  const kinds: [number, (i: number) => string | null][] = [
    // Most of one value, all of one value but one, and all of one value.
    [1, () => `${random.chance(0.7) ? 100_000_000 : random.int(1, 300_000_000)}`],
    [2, (i) => (i === 300 ? '200000000' : '100000000')],
    [3, () => '100000000'],
    // Values of 0 and of a millionth, and giants beside them.
    [4, () => random.pick(['0', '1', '2', '0'])],
    [3, () => `${random.chance(0.5) ? giant : giant / BigInt(random.int(1, 1_000_000))}`],
    [5, () => random.pick(['0', `${giant}`, '1000000', null])],
    // Prices that move by a millionth.
    [2, () => `${100_000_000 + random.int(0, 300)}`],
  ]
  const edges = kinds.flatMap(([every, usdOf], i) => trades(30 + i, last, Math.floor(windows / every), every, usdOf))
  // Edges that have stopped, some windows or days ago.
  const stopped = [1, 3, 40, 200, 500].flatMap((ago, i) =>
    trades(60 + i, last - ago * WINDOW, 900, 1 + (i % 3), () => `${random.int(1_000_000, 9_000_000)}`),
  )
  // One transaction in each window, and thirty in every fifth.
  const bursts = [70, 71, 72, 73].flatMap((to) =>
    trades(to, last, 12 * 96, 1, () => `${random.int(10_000_000, 30_000_000)}`).flatMap((one, i) =>
      Array.from({ length: (i + to) % 5 === 0 ? 30 : 1 }, (_, j) => ({ ...one, tx_hash: `${to} ${i} ${j}` })),
    ),
  )
  const days = trades(50, last, windows, 1, () => `${random.int(10_000_000, 90_000_000)}`)
  return [
    ...edges,
    ...stopped,
    ...bursts,
    ...days.filter(({ block_time }) => block_time % DAY < DAY / 3 && random.chance(0.8)),
  ]
}

test('at random instants every score is the one that follows from the raw flows', { timeout: 300_000 }, async ({
  app,
  clickhouse,
  end,
}) => {
  // Some edges for a month, some for days.
  const start = end - 30 * DAY
  await addFlows(clickhouse, [...wildFlows(18, end - 12 * DAY, end), ...strangeFlows(18, start, end)], { until: end })
  const flows = await storedFlows(clickhouse)
  const random = randomFor(18, 'instants')
  const seen = { scored: 0, silences: 0, byHour: 0, unscored: 0, constant: 0, unusual: 0 }
  for (let i = 0; i < INSTANTS; i++) {
    const at = random.int(end - 5 * DAY, end + 100)
    const window_start = Math.floor(Math.min(at, end) / WINDOW) * WINDOW - WINDOW
    const { scores, ...answer } = await scoresOf(app, { as_of: `${at}`, limit: random.pick(['3', '500']) })
    expect(answer).toMatchObject({ window_start: iso(window_start), window_end: iso(window_start + WINDOW) })
    const expected = flowScoresOracle({ flows, created: new Map(), read_since: 0 }, window_start)
    expectScores(scores, expected, `as of ${at}`)
    const scored = scores.filter(({ p_value }) => p_value !== null)
    expect(answer).toMatchObject({ edge_count: scores.length, scored_count: scored.length })
    expect(scores.map(({ p_value }) => p_value ?? 2)).toEqual(
      scores.map(({ p_value }) => p_value ?? 2).sort((a, b) => a - b),
    )
    seen.scored += scored.length
    seen.unscored += scores.length - scored.length
    seen.silences += scored.filter(
      ({ silent_windows, p_value }) => silent_windows !== null && (p_value ?? 1) < 1,
    ).length
    seen.unusual += scored.filter(({ unusual }) => unusual !== null).length
    seen.byHour += scores.filter(({ is_by_hour }) => is_by_hour).length
    seen.constant += scores.filter(({ reasons }) => reasons.join().includes('had the same volume')).length
  }
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(INSTANTS / 5)
})

test('the worked examples of the methodology', async ({ app, clickhouse, end }) => {
  const values = ['100000000', '80000000', '125000000']
  const scored = end - 100 * WINDOW
  const rare = (to: number, last: string | null): Flow[] => [
    ...trades(to, scored - 15 * WINDOW, 60, 15, (i) => values[i % 3] as string),
    ...(last === null ? [] : [flow(20, to, scored + 450, { usd_micros: last })]),
  ]
  const flows = [...rare(1, '100000000'), ...rare(2, '1000000000'), ...rare(3, null)]
  await addFlows(clickhouse, flows, { until: end })
  const scoresAt = async (start: number) =>
    new Map(
      (await scoresOf(app, { as_of: `${start + WINDOW}` })).scores.map((score) => [score.to_address, score] as const),
    )
  const first = await scoresAt(scored)
  const usual = {
    baseline_windows: 672,
    observations: 44,
    median_active_usd: 100,
    expected_low_usd: 78.4159,
    expected_high_usd: 127.525,
    activity_probability: expect.closeTo(0.066865, 6),
    is_by_hour: false,
  }
  expect(first.get(stableAddress(1))).toMatchObject({
    ...usual,
    robust_z: 0,
    p_value: expect.closeTo(0.089153, 6),
    q_value: expect.closeTo(0.163447, 6),
    reasons: [
      '1 times the median of its active windows',
      '29 of its 44 active windows had as much',
      'active in 6.55 % of windows',
    ],
  })
  const large = first.get(stableAddress(2))
  expect(large).toMatchObject({
    ...usual,
    observed_usd: '1000.000000',
    robust_z: expect.closeTo(6.96, 3),
    reasons: [
      '10 times the median of its active windows',
      '0 of its 44 active windows had as much',
      'active in 6.55 % of windows',
    ],
  })
  expect((large?.p_value ?? 0) / 3.2362e-6).toBeCloseTo(1, 4)
  expect((large?.q_value ?? 0) / 1.7799e-5).toBeCloseTo(1, 4)
  // No flow in 15 windows, and in 95.
  expect(first.get(stableAddress(3))).toMatchObject({ silent_windows: 15, p_value: expect.closeTo(0.015091, 6) })
  expect((await scoresAt(scored + 80 * WINDOW)).get(stableAddress(3))).toMatchObject({
    silent_windows: 95,
    robust_z: null,
    p_value: expect.closeTo(0.000421, 6),
    reasons: [
      'no flow in 95 windows',
      'the longest silence of the week before it had 14 windows',
      'active in 6.7 % of the windows of that week',
    ],
  })
})

test('an edge is scored only if all of its baseline is read: from the week before, its first flow or the making of its stable on', async ({
  app,
  clickhouse,
  end,
}) => {
  const start = end - 9 * DAY
  // The chain is read from its thousandth block on, which is nine days old.
  const flows = [
    ...wildFlows(7, start, end),
    flow(30, 31, end - 6 * DAY),
    ...trades(40, end - WINDOW, 50, 4, () => '5000000'),
  ]
  const created = new Map([[stableAddress(40), end - 3 * DAY]])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(40, { block_time: end - 3 * DAY, block_number: 2000, symbol: 'YOUNG' })],
  })
  await addFlows(clickhouse, flows, { until: end, firstBlock: 1000 })
  const stored = await storedFlows(clickhouse)
  const read_since = Math.min(...stored.map(({ block_time }) => block_time))
  for (const at of [end, end - DAY, end - 2 * DAY - WINDOW, end - 4 * DAY]) {
    const { scores } = await scoresOf(app, { as_of: `${at}` })
    expectScores(scores, flowScoresOracle({ flows: stored, created, read_since }, at - WINDOW), `as of ${at}`)
    const reasonsOf = (to: number) => scores.find(({ to_address }) => to_address === stableAddress(to))?.reasons
    if (at >= end - DAY) expect(scores.find(({ to }) => to === 'YOUNG')?.p_value, `${at}`).not.toBeNull()
    if (at === end) expect(reasonsOf(31)).toEqual(['its baseline is not wholly read: not scored'])
  }
  // Two days before, the week before is not read of any older edge.
  const { scores, coverage } = await scoresOf(app, { as_of: `${end - 4 * DAY}` })
  expect(scores.filter(({ p_value }) => p_value !== null)).toEqual([])
  expect(coverage.status).toBe('partial')
})

test('what is unusual is announced once, beside the anomalies of z, and taken back after a rollback', async ({
  app,
  clickhouse,
  end,
}) => {
  const JOB = { job: 'unusual-flows', periodSeconds: PERIOD_SECONDS['unusual-flows'], task: detectUnusualFlows }
  const start = end - WINDOW
  const usual = (to: number) =>
    trades(to, start - WINDOW, 300, 2, (i) => `${100_000_000 + (i % 7) * 20_000_000}`).map((one, i) => ({
      ...one,
      tx_hash: `${to} ${i}`,
    }))
  const large = flow(20, 1, start + 100, { usd_micros: '9000000000', log_index: 1 })
  const burst = Array.from({ length: 12 }, (_, i) =>
    flow(20, 2, start + 300, { usd_micros: '20000000', log_index: i, tx_hash: `burst ${i}` }),
  )
  const calm = [usual(1), usual(2), usual(3), wildFlows(9, end - 8 * DAY, start)].flat()
  await addFlows(clickhouse, [...calm, large, ...burst], { until: end })
  const [slot] = slotsOf(JOB, start, end)
  if (!slot) throw new Error('no slot')
  await runSlots(clickhouse, JOB, [slot])
  await runSlots(clickhouse, FLOW_ANOMALIES_JOB, slotsOf(FLOW_ANOMALIES_JOB, start, end))

  const stored = await storedFlows(clickhouse)
  const scores = Object.entries(flowScoresOracle({ flows: stored, created: new Map(), read_since: 0 }, start))
  const announced = await storedEvents(clickhouse)
  const robust = announced.filter(({ type }) => type === 'unusual_flow.detected')
  const edgeOf = ({ data }: { data: Record<string, unknown> }) => `${data.from_token} ${data.to_token} ${data.kind}`
  expect(robust.map(edgeOf).sort()).toEqual(
    scores.flatMap(([edge, { unusual }]) => (unusual ? [`${edge} ${unusual}`] : [])).sort(),
  )
  const edgeTo = (to: number) => `${stableAddress(20)} ${stableAddress(to)} surge`
  expect(robust.map(edgeOf)).toEqual(expect.arrayContaining([edgeTo(1), edgeTo(2)]))
  const [first] = robust.filter((event) => edgeOf(event) === edgeTo(2))
  expect(first).toMatchObject({
    stables: [stableAddress(20), stableAddress(2)],
    occurred_at: end,
    data: { window_start: iso(start), window_end: iso(end), observed_flow_usd: 240, tx_count: 12 },
  })
  const listed = (await app.inject(`/api/v1/events?after=0&types=unusual_flow.detected`)).json()
  expect(listed.events.map(({ data }: { data: unknown }) => data)).toEqual(robust.map(({ data }) => data))
  expect(listed).toMatchObject({ searched_until: iso(end), searched_from: iso(start) })
  // The volume of the burst is an ordinary one, so z does not see it.
  const rulesTo = async (to: number) =>
    (await anomaliesOf(app)).find(({ to_token }) => to_token === stableAddress(to))?.rules
  expect([await rulesTo(1), await rulesTo(2)]).toEqual([['z', 'robust'], undefined])

  await JOB.task(clickhouse, { ...slot, token: `${slot.token}:again` })
  expect(await storedEvents(clickhouse)).toEqual(announced)

  // The blocks of the burst are replaced by empty ones.
  await removeFacts(clickhouse, { from_block: await blockOf(clickhouse, start + 300), from_time: start + 200 })
  await repairedViews(clickhouse)
  await addFlows(clickhouse, [], { until: end + 1, firstBlock: 1_000_000 })
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, end, 1))
  const retractions = (await storedEvents(clickhouse)).slice(announced.length)
  expect(retractions).toMatchObject([
    { type: 'event.retracted', data: { retracts: first?.id, reason: 'not_found', original: first?.data } },
  ])
})

/** The first block at or after a time. */
async function blockOf(clickhouse: ClickHouseClient, time: number): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT toUInt32(min(block_number)) AS first FROM blocks WHERE block_time >= toDateTime(${time}, 'UTC')`,
    format: 'JSONEachRow',
  })
  return (await result.json<{ first: number }>())[0]?.first ?? 0
}

test('lists are filtered and paged within the window of their first page, and there is none before history', async ({
  app,
  clickhouse,
  clock,
  end,
}) => {
  expect((await app.inject(URL)).json()).toMatchObject({ window_end: null, scores: [], next_cursor: null })
  await addFlows(clickhouse, wildFlows(5, end - 8 * DAY, end), { until: end })
  const { scores } = await scoresOf(app)
  const far = scores.filter(({ robust_z }) => Math.abs(robust_z ?? 0) >= 1)
  expect(far.length).toBeGreaterThan(0)
  expect(far.length).toBeLessThan(scores.length)
  expect((await scoresOf(app, { min_abs_z: '1' })).scores).toEqual(far)
  const rare = scores.filter(({ q_value }) => (q_value ?? 1) <= 0.5)
  expect((await scoresOf(app, { max_q: '0.5' })).scores).toEqual(rare)
  const first = (await app.inject(`${URL}?limit=2`)).json()
  // Another window has ended meanwhile.
  await addFlows(clickhouse, [flow(1, 5, end + 100)], { until: end + WINDOW, firstBlock: 100_000 })
  clock.now = new Date(clock.now.getTime() + 20_000)
  const second = (await app.inject(`${URL}?limit=500&cursor=${first.next_cursor}`)).json()
  expect(second.window_start).toBe(first.window_start)
  expect([...first.scores, ...second.scores].map(({ p_value }) => p_value)).toEqual(
    scores.map(({ p_value }) => p_value),
  )
  const early = await app.inject(`${URL}?as_of=${end - 20 * DAY}`)
  expect([early.statusCode, early.json().type]).toEqual([404, expect.stringContaining('before-history')])
  for (const query of ['limit=0', 'max_q=2', 'min_abs_z=-1', 'min_abs_z=many', 'cursor=x', 'as_of=tomorrow', 'hours=1'])
    expect([query, (await app.inject(`${URL}?${query}`)).statusCode]).toEqual([query, 400])
})
