import { expect } from 'vitest'
import { DEPTH_SIZES } from '../../../../clickhouse/peg/price.js'
import { randomFor } from '../../../../local/chain/random.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { eventsOf, PEG_EVENTS_JOB as JOB } from '../../../support/peg-events.js'
import { pegSamples, stableAddress } from '../../../support/rows.js'
import { runPass, slotsOf } from '../../../support/slots.js'
import { PegEventsSpec } from '../../../support/spec/peg-events.js'
import { addMarket } from '../../../support/wild-market.js'

const STABLE = stableAddress(1)
const PATH = `/api/v1/stablecoins/${STABLE}/peg-events`
/** Every combination of filters, of which a drill tries all, and every run this share. */
const FILTERS = [undefined, 'mild', 'severe'].flatMap((severity) =>
  [undefined, 51.25, 51.26, 55, 70.5, 70.51, 80].flatMap((min_bps) =>
    [undefined, 60, 61, 120, 180, 300, 301].map((min_seconds) => ({ severity, min_bps, min_seconds })),
  ),
)
const SHARE = depth('FILTERS_PERCENT', 8, 100) / 100
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** A mild break of five minutes around a severe one of two, then calm, then an ongoing break, at a block a minute. */
const BPS = [0, -20, -60, -70.5, -20, -20, -5, ...Array(54).fill(3), 51, 51.25, 55, 80]

/** What 1,000, 10,000, 100,000 and 1,000,000 tokens sell for at some minutes, in basis points from 1. */
const BOOKS = {
  3: [-70, -50, -45, -40],
  5: [-20, -18, -12, -8],
  6: [-4, -4, -4, -4],
}

const test = base.extend<{ start: number }>({
  // On a slot, a little more than an hour ago.
  start: async ({ clock, clickhouse }, use) => {
    const start = Math.floor(clock.now.getTime() / 120_000) * 120 - 4200
    const times = BPS.map((_, i) => start + i * 60)
    const ticks = BPS.map((bps, i) => ({ at: times[i] as number, price: 1_000_000 + bps * 100 }))
    const depths = Object.entries(BOOKS).flatMap(([minute, book]) =>
      book.map((bps, size) => {
        const size_tokens = DEPTH_SIZES[size] as number
        const place = { stable: STABLE, block_number: 1 + Number(minute), block_time: times[Number(minute)] as number }
        const sold = { sell_status: 'quoted', sell_raw: `${size_tokens * (1_000_000 + bps * 100)}` } as const
        return { ...place, size_tokens, ...sold, buy_status: 'no_liquidity' as const, buy_raw: null }
      }),
    )
    await addMarket(clickhouse, pegSamples(STABLE, ticks), times, 1, depths)
    await use(start)
  },
})

test('an event has the documented fields, and as of any instant the values known then', async ({
  app,
  clickhouse,
  start,
}) => {
  await runPass(clickhouse, JOB, slotsOf(JOB, start, start + 64 * 60))
  const minute = (i: number): string => iso(start + i * 60)
  const ended = { ended_at: minute(6), ended_block: 7, ongoing: false, duration_seconds: 300 }
  const published_at = expect.any(String)
  const mild = {
    severity: 'mild',
    direction: 'below',
    started_at: minute(1),
    started_block: 2,
    max_deviation_bps: 70.5,
    ...ended,
    standing_tokens: 100_000,
    thin: false,
    published_at,
  }
  const severe = {
    ...mild,
    severity: 'severe',
    started_at: minute(2),
    started_block: 3,
    ended_at: minute(4),
    ended_block: 5,
    duration_seconds: 120,
    standing_tokens: 1000,
    thin: true,
  }
  const open = { ended_at: null, ended_block: null, ongoing: true }
  const last = {
    ...open,
    severity: 'severe',
    direction: 'above',
    started_at: minute(61),
    started_block: 62,
    // No larger size was sampled.
    standing_tokens: null,
    thin: null,
    published_at,
  }

  const at = (i: number, seconds = 0) => eventsOf(app, STABLE, `?as_of=${start + i * 60 + seconds}`)
  expect(await at(2, 59)).toEqual([])
  expect(await at(3)).toEqual([{ ...severe, ...open, duration_seconds: 60 }])
  // The duration is known up to the newest sample, not up to the clock.
  expect(await at(3, 59)).toEqual([{ ...severe, ...open, duration_seconds: 60 }])
  expect(await at(4)).toEqual([severe])
  expect(await at(5, 59)).toEqual([severe])
  expect(await at(6)).toEqual([severe, mild])
  expect(await at(61, 59)).toEqual([severe, mild])
  expect(await at(62)).toEqual([{ ...last, duration_seconds: 60, max_deviation_bps: 51.25 }, severe, mild])
  expect(await at(63)).toEqual([{ ...last, duration_seconds: 120, max_deviation_bps: 55 }, severe, mild])
  expect(await at(64)).toEqual([{ ...last, duration_seconds: 180, max_deviation_bps: 80 }, severe, mild])
  expect(await eventsOf(app, STABLE)).toEqual(await at(64, 30))
  expect(await eventsOf(app, STABLE, '?min_size=1000')).toEqual([severe, mild])
  expect(await eventsOf(app, STABLE, '?min_size=10000')).toEqual([mild])
})

test('live and as of now, the answer reaches no further than the detector', async ({
  app,
  clickhouse,
  clock,
  start,
}) => {
  expect(await eventsOf(app, STABLE)).toEqual([])
  let before = start
  for (const done of [2, 4, 6, 20, 60, 62, 64]) {
    await runPass(clickhouse, JOB, slotsOf(JOB, before, start + done * 60))
    before = start + done * 60
    const live = await app.inject(PATH)
    const now = await app.inject(`${PATH}?as_of=${encodeURIComponent(clock.now.toISOString())}`)
    expect(live.json()).toEqual(now.json())
    expect(live.headers).not.toHaveProperty('x-service-as-of')
    expect(now.headers['x-service-as-of']).toBe(iso(Math.floor(clock.now.getTime() / 1000)))
    expect(live.json().events).toEqual(await eventsOf(app, STABLE, `?as_of=${start + done * 60}`))
  }
  expect(await eventsOf(app, STABLE)).toMatchObject([{ ongoing: true }, { severity: 'severe' }, { severity: 'mild' }])
})

test('pages follow one another without a gap, each event once', async ({ app, clickhouse, start }) => {
  await runPass(clickhouse, JOB, slotsOf(JOB, start, start + 64 * 60))
  for (const moment of ['', `&as_of=${start + 62 * 60}`]) {
    const all = (await app.inject(`${PATH}?limit=500${moment}`)).json()
    expect(all).toMatchObject({ events: { length: 3 }, next_cursor: null })
    for (const limit of [1, 2, 3]) {
      const found = []
      let page = (await app.inject(`${PATH}?limit=${limit}${moment}`)).json()
      for (;;) {
        expect(page.events.length).toBeLessThanOrEqual(limit)
        found.push(...page.events)
        if (page.next_cursor === null) break
        page = (await app.inject(`${PATH}?limit=${limit}${moment}&cursor=${page.next_cursor}`)).json()
      }
      expect(found).toEqual(all.events)
    }
  }
})

test('a filter is judged by what the answer says of a break, in every page and as of any instant', async ({
  app,
  clickhouse,
  start,
}) => {
  await runPass(clickhouse, JOB, slotsOf(JOB, start, start + 64 * 60))
  const moments = [3, 4, 6, 62, 63, 64].map((minute) => start + minute * 60)
  const counts = new Set<number>()
  const random = randomFor(12, 'filters')
  for (const as_of of moments) {
    const all = await eventsOf(app, STABLE, `?as_of=${as_of}`)
    for (const { severity, min_bps, min_seconds } of FILTERS.filter(() => random.chance(SHARE))) {
      const given = Object.entries({ severity, min_bps, min_seconds }).filter(([, value]) => value !== undefined)
      const query = given.map(([name, value]) => `${name}=${value}`).join('&')
      const expected = all.filter(
        (event) =>
          event.severity === (severity ?? event.severity) &&
          event.max_deviation_bps >= (min_bps ?? 0) &&
          event.duration_seconds >= (min_seconds ?? 0),
      )
      counts.add(expected.length)
      const first = (await app.inject(`${PATH}?as_of=${as_of}&${query}&limit=1`)).json()
      const { next_cursor } = first
      const rest =
        next_cursor === null ? [] : await eventsOf(app, STABLE, `?as_of=${as_of}&${query}&cursor=${next_cursor}`)
      expect([...first.events, ...rest], `${as_of} ${query}`).toEqual(expected)
      expect(next_cursor === null, `${as_of} ${query}`).toBe(expected.length < 2)
    }
  }
  expect([...counts].sort()).toEqual([0, 1, 2, 3])
})

test('the fault of a request is named', async ({ app, start }) => {
  const cursor = (text: string): string => Buffer.from(text).toString('base64url')
  for (const [query, parameter] of [
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=many', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=!', 'cursor'],
    [`cursor=${cursor('[1,2]')}`, 'cursor'],
    [`cursor=${cursor('[1,-2,"mild"]')}`, 'cursor'],
    [`cursor=${cursor('[1,2,"worse"]')}`, 'cursor'],
    [`cursor=${cursor('[1e300,2,"mild"]')}`, 'cursor'],
    ['severity=', 'severity'],
    ['severity=both', 'severity'],
    ['severity=mild,severe', 'severity'],
    ...['', '0', '-1', 'many', 'NaN', 'Infinity'].map((value) => [`min_bps=${value}`, 'min_bps'] as const),
    ...['', '0', '-1', '1.5', '4294967296'].map((value) => [`min_seconds=${value}`, 'min_seconds'] as const),
    ...['', '0', '-1', '1.5', 'many', 'NaN', '1000001', '1e300'].map(
      (value) => [`min_size=${value}`, 'min_size'] as const,
    ),
    ['track=agreed&min_size=1000', 'min_size'],
    ['as_of=yesterday', 'as_of'],
    ['as_of=2999-01-01', 'as_of'],
    ['since=2026-01-01', 'since'],
  ]) {
    const response = await app.inject(`${PATH}?${query}`)
    expect([query, response.statusCode]).toEqual([query, 400])
    expect(response.json()).toMatchObject({ type: 'urn:plumbline:problem:bad-parameter', parameter })
  }
  for (const moment of [`${start - 1}`, '2020-01-01', '0', '1960-01-01', '999999d']) {
    const response = await app.inject(`${PATH}?as_of=${moment}`)
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ type: 'urn:plumbline:problem:before-history', parameter: 'as_of' })
  }
  const unknown = await app.inject(`/api/v1/stablecoins/${stableAddress(99)}/peg-events`)
  expect(unknown.statusCode).toBe(404)
  expect(unknown.json()).toMatchObject({ type: 'urn:plumbline:problem:unknown-stable' })
})

test('an empty list of a stable without a price does not say that the peg held', async ({ app, clickhouse, clock }) => {
  const begin = Math.floor(clock.now.getTime() / 120_000) * 120 - 1200
  const times = Array.from({ length: 20 }, (_, i) => begin + i * 60)
  const [euro, unsold] = [stableAddress(2), stableAddress(3)] as [string, string]
  await addMarket(
    clickhouse,
    [
      ...pegSamples(
        euro,
        times.map((at) => ({ at, price: 'not_usd' })),
      ),
      ...pegSamples(
        unsold,
        times.map((at, i) => ({ at, price: i < 10 ? 1_000_000 : 'no_liquidity' })),
      ),
    ],
    times,
  )
  await runPass(clickhouse, JOB, slotsOf(JOB, begin, begin + 20 * 60))
  const answer = async (stable: string, minute: number) => {
    const response = await app.inject(`/api/v1/stablecoins/${stable}/peg-events?as_of=${begin + minute * 60}`)
    PegEventsSpec.parse(response.json())
    return response.json<{ events: object[]; coverage: { status: string; message: string } }>()
  }
  expect(await answer(euro, 18)).toMatchObject({
    events: [],
    coverage: { status: 'unavailable', message: expect.stringContaining('It has never had a price') },
  })
  expect(await answer(unsold, 18)).toMatchObject({
    events: [],
    coverage: { status: 'partial', message: expect.stringContaining(`No price since ${iso(begin + 600)}`) },
  })
  expect((await answer(unsold, 8)).coverage.message).not.toContain('No price')
})
