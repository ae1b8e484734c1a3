import { expect } from 'vitest'
import { randomFor } from '../../../../local/chain/random.js'
import { agreedBreaksOracle, type OracleAgreedBreak } from '../../../../oracle/peg-tracks.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { storedEvents } from '../../../support/events.js'
import { eventsOf, PEG_EVENTS_JOB, withPublication } from '../../../support/peg-events.js'
import { PEG_TRACKS_JOB as JOB } from '../../../support/peg-tracks.js'
import { pegSamples, stableAddress } from '../../../support/rows.js'
import { runPass, slotsOf } from '../../../support/slots.js'
import { addMarket, blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const STABLE = stableAddress(1)
const INSTANTS = depth('INSTANTS', 40, 150)
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

const test = base.extend<{ start: number }>({
  // On a slot, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 120_000) - 150) * 120),
})

/**
 * The worked example of the methodology: the middle of bid and ask in basis points from 1 at a block a minute; null for no quote.
 * Bids and asks are half a spread away from it.
 */
const ONE = [0, -20, -20, -60, -20, -20, -20, -8, -8, -2, -2, null, null, null, 0]
const MANY = [-1, -16, -16, -16, -16, -16, -16, -8, -8, -2, -2, null, null, null, 0]

const HALF_SPREAD = 5

const AGREED = '&track=agreed'

test('the worked example: what the agreed tracks say, and when a quote is lost and back', async ({
  app,
  clickhouse,
  start,
}) => {
  const minute = (i: number): number => start + i * 60
  const ticks = ONE.map((bps, i) => ({
    at: minute(i),
    price: bps === null ? ('no_liquidity' as const) : 1_000_000 + (bps - HALF_SPREAD) * 100,
  }))
  const samples = pegSamples(STABLE, ticks).map((sample, i) => ({
    ...sample,
    buy_micros: sample.sell_micros === null ? null : 1_000_000 + ((ONE[i] ?? 0) + HALF_SPREAD) * 100,
  }))
  const depths = MANY.map((bps, i) => ({
    ...{ stable: STABLE, size_tokens: 10_000, block_number: i + 1, block_time: minute(i) },
    sell_status: bps === null ? ('no_liquidity' as const) : ('quoted' as const),
    sell_raw: bps === null ? null : `${(1_000_000 + (bps - HALF_SPREAD) * 100) * 10_000}`,
    buy_status: bps === null ? ('no_liquidity' as const) : ('quoted' as const),
    buy_raw: bps === null ? null : `${(1_000_000 + (bps + HALF_SPREAD) * 100) * 10_000}`,
  }))
  const times = [...ONE.map((_, i) => minute(i)), minute(16)]
  await addMarket(clickhouse, samples, times, 1, depths)
  for (const job of [JOB, PEG_EVENTS_JOB]) await runPass(clickhouse, job, slotsOf(job, start - 60, minute(16)))

  const published_at = expect.any(String)
  const begun = { severity: 'mild', direction: 'below', started_at: iso(minute(2)), started_block: 3, published_at }
  const unmeasured = { standing_tokens: null, thin: null }
  const open = { ...begun, ...unmeasured, ended_at: null, ended_block: null, ongoing: true, max_deviation_bps: 16 }
  const ended = { ...open, ended_at: iso(minute(10)), ended_block: 11, ongoing: false, duration_seconds: 480 }
  const at = (i: number) => eventsOf(app, STABLE, `?as_of=${minute(i)}${AGREED}`)
  expect(await at(6)).toEqual([])
  expect(await at(7)).toEqual([{ ...open, duration_seconds: 300 }])
  expect(await at(9)).toEqual([{ ...open, duration_seconds: 420 }])
  expect(await at(10)).toEqual([ended])
  expect(await eventsOf(app, STABLE, '?track=agreed')).toEqual([ended])

  const start_data = { stable: STABLE, started_at: iso(minute(11)), started_block: 12, status: 'no_liquidity' }
  const events = await storedEvents(clickhouse)
  expect(
    events
      .filter(({ type }) => !type.startsWith('peg_break'))
      .map(({ type, occurred_at, data }) => [type, (occurred_at - start) / 60, data]),
  ).toEqual([
    ['agreed_break.started', 7, expect.objectContaining({ direction: 'below', max_deviation_bps: 16 })],
    ['agreed_break.ended', 10, expect.objectContaining({ ended_block: 11, duration_seconds: 480 })],
    ['peg_quote.lost', 13, start_data],
    ['peg_quote.back', 14, { ...start_data, ended_at: iso(minute(14)), ended_block: 15, duration_seconds: 180 }],
  ])

  // Who does not ask for the agreed tracks sees the published ones.
  const others = await eventsOf(app, STABLE)
  expect(others).toMatchObject([
    { severity: 'severe', started_block: 4, ended_block: 5, max_deviation_bps: 65 },
    { severity: 'mild', started_block: 2, ended_block: 10, max_deviation_bps: 65 },
  ])
  expect(await eventsOf(app, STABLE, '?track=published')).toEqual(others)
})

test('at any moment the answer equals the result of a pass over the samples, also in pages and filtered', {
  timeout: 600_000,
}, async ({ app, clickhouse, start }) => {
  const STABLES = 4
  const times = blockTimes(43, start, 3 * 3600)
  const samples = wildSamples(43, STABLES, times)
  const depths = wildDepths(43, samples)
  await addMarket(clickhouse, samples, times, 1, depths)
  const slots = slotsOf(JOB, start - 60, times.at(-1) ?? 0)
  await runPass(clickhouse, JOB, slots)
  const horizon = (slots.at(-1)?.at.getTime() ?? 0) / 1000
  const published = await withPublication<OracleAgreedBreak>(clickhouse, 'agreed_break.')
  const random = randomFor(43, 'moments')
  let [ended, ongoing] = [0, 0]
  for (let i = 0; i < INSTANTS; i++) {
    const stable = stableAddress(random.int(1, STABLES))
    const isOwn = (row: { stable: string }): boolean => row.stable === stable
    const own = samples.filter(isOwn)
    const asOf = random.chance(0.3) ? random.pick(own).block_time : random.int(start, start + 3 * 3600)
    const all = published(stable, agreedBreaksOracle(own, depths.filter(isOwn), Math.min(asOf, horizon)))
    const least = random.pick([undefined, 20, 50])
    const expected = all.filter(({ max_deviation_bps }) => least === undefined || max_deviation_bps >= least)
    const filter = least === undefined ? '' : `&min_bps=${least}`
    const found = await eventsOf(app, stable, `?as_of=${asOf}&limit=500${filter}${AGREED}`)
    expect(found, `${stable} at ${asOf}`).toEqual(expected)
    ended += expected.filter((event) => !event.ongoing).length
    ongoing += expected.filter((event) => event.ongoing).length
  }
  expect(ended).toBeGreaterThan((INSTANTS * 2) / 3)
  expect(ongoing).toBeGreaterThan(INSTANTS / 15)

  const path = `/api/v1/stablecoins/${STABLE}/peg-events?limit=3${AGREED}`
  const whole = await eventsOf(app, STABLE, `?limit=500${AGREED}`)
  const pages: unknown[] = []
  let page = (await app.inject(path)).json()
  for (;;) {
    pages.push(...page.events)
    if (page.next_cursor === null) break
    page = (await app.inject(`${path}&cursor=${page.next_cursor}`)).json()
  }
  expect(pages).toEqual(whole)
  expect(whole.length).toBeGreaterThan(3)
})

test('with known_at, what had been announced by then', async ({ app, clickhouse, clock, start }) => {
  const times = blockTimes(47, start, 2 * 3600)
  const samples = wildSamples(47, 1, times)
  await addMarket(clickhouse, samples, times, 1, wildDepths(47, samples))
  await runPass(clickhouse, JOB, slotsOf(JOB, start - 60, times.at(-1) ?? 0))
  const all = await eventsOf(app, STABLE, `?limit=500${AGREED}`)
  expect(all.length).toBeGreaterThan(3)
  clock.now = new Date(Date.now() + 5000)
  const known = await eventsOf(app, STABLE, `?limit=500${AGREED}&known_at=${new Date(Date.now() + 2000).toISOString()}`)
  const keyOf = ({ severity, started_block }: { severity: string; started_block: number }) =>
    `${severity} ${started_block}`
  expect(known.map(keyOf)).toEqual(all.map(keyOf))
})
