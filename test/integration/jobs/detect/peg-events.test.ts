import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { pegExcursions } from '../../../../clickhouse/peg/break-detection.js'
import { DEPTH_SIZES } from '../../../../clickhouse/peg/price.js'
import { planMarket } from '../../../../local/chain/plan.js'
import { randomFor } from '../../../../local/chain/random.js'
import { type OracleEvent, pegEventsOracle } from '../../../../oracle/peg-events.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { standing, storedEvents } from '../../../support/events.js'
import { eventsOf, PEG_EVENTS_JOB as JOB, storedExcursions, withPublication } from '../../../support/peg-events.js'
import { repairedViews } from '../../../support/repair-views.js'
import { pegSamples, stableAddress, type Tick } from '../../../support/rows.js'
import { withDatabase } from '../../../support/services.js'
import { REVISIONS, runPass, runSlots, slotsOf } from '../../../support/slots.js'
import { addMarket, blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const HOUR = 3600
const STABLES = 6
const INSTANTS = depth('INSTANTS', 60, 200)

const test = base.extend<{ start: number }>({
  // Right between two slots, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 120_000) - 150) * 120 + 60),
})

/** Ticks a minute apart from `start` on, each with one of these distances from 1 in basis points; null for no quote. */
const minutely = (start: number, bps: readonly (number | null)[]): Tick[] =>
  bps.map((distance, i) => ({
    at: start + i * 60,
    price: distance === null ? ('no_liquidity' as const) : 1_000_000 + distance * 100,
  }))

/** Some hours of a volatile market, slot by slot. */
async function judgedMarket(clickhouse: ClickHouseClient, seed: number, start: number, hours: number) {
  const times = blockTimes(seed, start, hours * HOUR)
  const samples = wildSamples(seed, STABLES, times)
  const depths = wildDepths(seed, samples)
  await addMarket(clickhouse, samples, times, 1, depths)
  const slots = slotsOf(JOB, start, times.at(-1) ?? 0)
  await runSlots(clickhouse, JOB, slots)
  return { times, samples, depths, slots, horizon: (slots.at(-1)?.at.getTime() ?? 0) / 1000 }
}

test('each severity has its own thresholds: the deviation must exceed its limit, the duration must reach it', async ({
  app,
  clickhouse,
  start,
}) => {
  const cases: [bps: (number | null)[], expected: [severity: string, minutes: number | null, bps: number][]][] = [
    [[0, 11, 11, 11, 11, 11, 0], [['mild', 5, 11]]],
    [[0, 11, 11, 11, 11, 0], []],
    [[0, 10, 10, 10, 10, 10, 10, 0], []],
    [[0, -11, -12, 30, -11, -11, 0], [['mild', 5, 30]]],
    [[0, 51, 0], [['severe', 1, 51]]],
    [[0, 50, 0], []],
    [
      [11, 51, 60, 11, 11, 11, 0],
      [
        ['severe', 2, 60],
        ['mild', 6, 60],
      ],
    ],
    // Samples without a quote neither end nor confirm an excursion.
    [[0, 11, null, null, null, null, null, null], []],
    [[0, 11, null, null, null, null, null, 0], [['mild', 6, 11]]],
    [[0, 11, null, null, null, null, 12, null], [['mild', null, 12]]],
    [[null, null, 11, null, 0, null], []],
    // Two events of one severity.
    [
      [0, 55, 0, -56, 0, 0, 0],
      [
        ['severe', 1, 56],
        ['severe', 1, 55],
      ],
    ],
  ]
  const samples = cases.flatMap(([bps], i) => pegSamples(stableAddress(i + 1), minutely(start, bps)))
  await addMarket(
    clickhouse,
    samples,
    minutely(start, Array(8).fill(0)).map(({ at }) => at),
  )
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, start + 1200))
  for (const [i, [, expected]] of cases.entries()) {
    const events = await eventsOf(app, stableAddress(i + 1))
    const found = events.map(({ severity, duration_seconds, ongoing, max_deviation_bps }) => [
      severity,
      ongoing ? null : duration_seconds / 60,
      max_deviation_bps,
    ])
    expect(found, `case ${i}`).toEqual(expected)
  }
})

test('the direction is that of the first sample outside, for as long as the break lasts', async ({
  app,
  clickhouse,
  start,
}) => {
  const sides = [
    [0, -11, ...Array(9).fill(30), 0],
    [0, 60, -70, -70, -70, -70, -70, -70, 0, 0, 0, 0],
    [-11, 0, null, 51, null, -52, -53, null, -54, -54, -54, -54],
  ]
  const samples = sides.flatMap((bps, i) => pegSamples(stableAddress(i + 1), minutely(start, bps)))
  await addMarket(
    clickhouse,
    samples,
    minutely(start, Array(12).fill(0)).map(({ at }) => at),
  )
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, start + 1200))
  const found = async (i: number, query = '') =>
    (await eventsOf(app, stableAddress(i), query)).map(({ severity, direction }) => [severity, direction])
  for (const query of [`?as_of=${start + 480}`, '']) {
    expect(await found(1, query)).toEqual([['mild', 'below']])
    expect(await found(2, query)).toEqual([
      ['severe', 'above'],
      ['mild', 'above'],
    ])
    expect(await found(3, query)).toEqual([
      ['severe', 'above'],
      ['mild', 'above'],
    ])
  }
  const announced = standing(await storedEvents(clickhouse))
  expect(announced.length).toBeGreaterThan(7)
  for (const { data } of announced) expect(data.direction).toBe(data.stable === stableAddress(1) ? 'below' : 'above')
})

test('a break is thin where 10,000 tokens contradict one, by the newest sample from its start until it was confirmed', async ({
  app,
  clickhouse,
  start,
}) => {
  const FINE = [-1, -1, -1, -1]
  const DRY = [null, null, null, null]
  type Book = readonly (number | null)[]
  type Expected = [severity: string, standing_tokens: number | null, thin: boolean | null][]
  /** One token off its peg from minute 1 to 7, and what the sizes sell for at some minutes. */
  const cases: [bps: number, books: Record<number, Book>, expected: Expected][] = [
    // One token alone.
    [-20, { 1: FINE, 4: FINE }, [['mild', 0, true]]],
    [-20, { 4: [-20, -10, -10, -10] }, [['mild', 1000, true]]],
    // The limit itself is inside.
    [-20, { 4: [-20, -10.01, -10, -20] }, [['mild', 10_000, false]]],
    [-20, { 4: [-20, -20, -30, -200] }, [['mild', 1_000_000, false]]],
    [20, { 4: [20, 10.01, 10, 20] }, [['mild', 10_000, false]]],
    // On the other side.
    [-20, { 4: [20, 20, 20, 20] }, [['mild', 0, true]]],
    // Nobody buys: below the peg at any price, and not above it.
    [-20, { 4: [-15, null, null, null] }, [['mild', 1_000_000, false]]],
    [20, { 4: DRY }, [['mild', 0, true]]],
    // Each severity by its own limit, and by what was known when it was confirmed: severe at minute 2, mild at minute 6.
    [
      -60,
      { 1: [-60, -40, -40, -40], 3: FINE, 6: [-60, -60, -60, -9] },
      [
        ['severe', 1000, true],
        ['mild', 100_000, false],
      ],
    ],
    // Samples from before the first one outside and after the confirmation have no say.
    [-20, { 0: FINE, 7: FINE }, [['mild', null, null]]],
    [-20, {}, [['mild', null, null]]],
  ]
  // The block that ends it also confirms it. Prices are back in that block, so its sample has no say.
  const brief = pegSamples(stableAddress(cases.length + 1), minutely(start, [0, 0, 0, -60, 0]))
  cases.push([0, { 3: [-60, -60, -60, -60], 4: FINE }, [['severe', 1_000_000, false]]])
  const bpsToRaw = (size: number, bps: number): string => `${size * 1_000_000 + Math.round(size * bps * 100)}`
  const depths = cases.flatMap(([, books], i) =>
    Object.entries(books).flatMap(([minute, book]) =>
      book.map((bps, size): DepthSample => {
        const size_tokens = DEPTH_SIZES[size] as number
        return {
          stable: stableAddress(i + 1),
          size_tokens,
          block_number: 1 + Number(minute),
          block_time: start + Number(minute) * 60,
          sell_status: bps === null ? 'no_liquidity' : 'quoted',
          sell_raw: bps === null ? null : bpsToRaw(size_tokens, bps),
          buy_status: 'no_liquidity',
          buy_raw: null,
        }
      }),
    ),
  )
  const lasting = cases.slice(0, -1).flatMap(([bps], i) => {
    const ticks = minutely(start, [0, bps, bps, bps, bps, bps, bps, bps, 0])
    return pegSamples(stableAddress(i + 1), ticks)
  })
  const samples = [...lasting, ...brief]
  const times = minutely(start, Array(9).fill(0)).map(({ at }) => at)
  await addMarket(clickhouse, samples, times, 1, depths)
  const slots = slotsOf(JOB, start, start + 1200)
  await runSlots(clickhouse, JOB, slots)
  const check = async () => {
    const announced = standing(await storedEvents(clickhouse))
    for (const [i, [, , expected]] of cases.entries()) {
      const stable = stableAddress(i + 1)
      // Also while it lasts.
      for (const query of ['', `?as_of=${start + 400}`]) {
        const found = await eventsOf(app, stable, query)
        expect(
          found.map(({ severity, standing_tokens, thin }) => [severity, standing_tokens, thin]),
          `case ${i}`,
        ).toEqual(expected)
      }
      const told = announced.filter(({ data }) => data.stable === stable)
      expect(told, `case ${i}`).toHaveLength(2 * expected.length)
      for (const [severity, standing_tokens, thin] of expected)
        for (const { data } of told.filter((event) => event.data.severity === severity))
          if (thin === null) expect(Object.keys(data)).not.toContain('thin')
          else expect(data).toMatchObject({ standing_tokens, thin })
      const least = expected.flatMap(([, tokens]) => (tokens ? [tokens, tokens + 1] : [1]))
      for (const min_size of least.filter((tokens) => tokens <= 1_000_000)) {
        const passing = expected.filter(([, tokens]) => tokens !== null && tokens >= min_size)
        const found = await eventsOf(app, stable, `?min_size=${min_size}`)
        expect(found.map(({ severity, standing_tokens, thin }) => [severity, standing_tokens, thin])).toEqual(passing)
      }
    }
  }
  await check()
  // Again from the start and from the middle, as after a backfill: nothing changes, and nothing is taken back.
  for (const slot of slotsOf(JOB, start, start + 1200, 1)) await JOB.task(clickhouse, slot)
  for (const slot of slotsOf(JOB, start, start + 1200, 2).slice(2)) await JOB.task(clickhouse, slot)
  await check()
  expect((await storedEvents(clickhouse)).filter(({ type }) => type === 'event.retracted')).toEqual([])
})

test('an event can begin in the very first block, even if its time is that of a slot', async ({
  app,
  clickhouse,
  start,
}) => {
  const first = start + 60
  const ticks = minutely(first, [60, 60, 0, 0, 0])
  await addMarket(
    clickhouse,
    pegSamples(stableAddress(1), ticks),
    ticks.map(({ at }) => at),
  )
  await runSlots(clickhouse, JOB, slotsOf(JOB, first, first + 240))
  expect(await eventsOf(app, stableAddress(1))).toMatchObject([{ started_block: 1, duration_seconds: 120 }])
})

test('at any moment the answer equals the result of a pass over the samples', { timeout: 600_000 }, async ({
  app,
  clickhouse,
  start,
}) => {
  const { samples, depths, horizon } = await judgedMarket(clickhouse, 3, start, 3)
  const published = await withPublication<OracleEvent>(clickhouse)
  const random = randomFor(3, 'moments')
  let [ended, ongoing] = [0, 0]
  const standing = new Map<number | null, number>()
  for (let i = 0; i < INSTANTS; i++) {
    const stable = stableAddress(random.int(1, STABLES))
    const own = samples.filter((sample) => sample.stable === stable)
    const asOf = random.chance(0.3) ? random.pick(own).block_time : random.int(start, start + 3 * HOUR)
    const ownDepths = depths.filter((sample) => sample.stable === stable)
    const expected = pegEventsOracle(own, Math.min(asOf, horizon), ownDepths)
    const found = await eventsOf(app, stable, `?as_of=${asOf}&limit=500`)
    expect(found, `${stable} at ${asOf}`).toEqual(published(stable, expected))
    ended += expected.filter((event) => !event.ongoing).length
    ongoing += expected.filter((event) => event.ongoing).length
    for (const { standing_tokens } of expected) standing.set(standing_tokens, (standing.get(standing_tokens) ?? 0) + 1)
  }
  for (const size of [null, 0, 1000, 10_000, 100_000, 1_000_000])
    expect(standing.get(size), `${size}`).toBeGreaterThan(INSTANTS / 10)
  expect(ended).toBeGreaterThan(INSTANTS * 2.5)
  expect(ongoing).toBeGreaterThan(INSTANTS / 4)
})

test('repeating slots, any of them and in any order, changes nothing', { timeout: 600_000 }, async ({
  clickhouse,
  start,
}) => {
  const { slots } = await judgedMarket(clickhouse, 5, start, 1)
  const once = await storedExcursions(clickhouse)
  expect(once.length).toBeGreaterThan(20)
  const random = randomFor(5, 'again')
  for (let i = 0; i < 15; i++) {
    const slot = random.pick(slots)
    await JOB.task(clickhouse, slot)
    // As if after so long that the token is forgotten.
    await JOB.task(clickhouse, { ...slot, token: `${slot.token}:${i}` })
  }
  expect(await storedExcursions(clickhouse)).toEqual(once)

  // A detector that dies after every write, before it can be recorded as done.
  await clickhouse.command({ query: 'TRUNCATE TABLE peg_breaks' })
  for (const slot of slots)
    for (const time of ['first', 'second']) await JOB.task(clickhouse, { ...slot, token: `${slot.token}:${time}` })
  expect(await storedExcursions(clickhouse)).toEqual(once)

  for (const revision of REVISIONS) {
    const from = random.int(0, slots.length - 1)
    const again = slotsOf(JOB, start, start + HOUR, revision).slice(from, slots.length)
    for (const slot of again) await JOB.task(clickhouse, slot)
    expect(await storedExcursions(clickhouse)).toEqual(once)
  }
})

test('after a rollback the events are those of the replacement blocks', { timeout: 600_000 }, async ({
  app,
  clickhouse,
  start,
}) => {
  const { times, samples, depths } = await judgedMarket(clickhouse, 7, start, 1.5)
  const random = randomFor(7, 'rollbacks')
  let [keptTimes, keptSamples, keptDepths] = [times, samples, depths]
  for (const revision of REVISIONS) {
    const kept = random.int(Math.floor(keptTimes.length / 4), keptTimes.length - 2)
    const keptTime = keptTimes[kept - 1] ?? 0
    await removeFacts(clickhouse, { from_block: kept + 1, from_time: keptTime })
    await repairedViews(clickhouse)
    const newTimes = blockTimes(70 + revision, keptTime + random.int(0, 5), start + 1.5 * HOUR - keptTime)
    const newSamples = wildSamples(70 + revision, STABLES, newTimes, kept + 1)
    const newDepths = wildDepths(70 + revision, newSamples)
    await addMarket(clickhouse, newSamples, newTimes, kept + 1, newDepths)
    keptTimes = [...keptTimes.slice(0, kept), ...newTimes]
    keptSamples = [...keptSamples.filter(({ block_number }) => block_number <= kept), ...newSamples]
    keptDepths = [...keptDepths.filter(({ block_number }) => block_number <= kept), ...newDepths]
    const due = slotsOf(JOB, start, keptTimes.at(-1) ?? 0, revision).filter(({ at }) => at.getTime() / 1000 >= keptTime)
    await runSlots(clickhouse, JOB, due)
    const expected = await withDatabase(async (_, fresh) => {
      await addMarket(fresh, keptSamples, keptTimes, 1, keptDepths)
      await runPass(fresh, JOB, slotsOf(JOB, start, keptTimes.at(-1) ?? 0))
      return storedExcursions(fresh)
    })
    expect(await storedExcursions(clickhouse), `rollback ${revision} to ${kept}`).toEqual(expected)
  }
  const own = keptSamples.filter(({ stable }) => stable === stableAddress(2))
  const depth = keptDepths.filter(({ stable }) => stable === stableAddress(2))
  const horizon =
    slotsOf(JOB, start, keptTimes.at(-1) ?? 0)
      .at(-1)
      ?.at.getTime() ?? 0
  const published = await withPublication<OracleEvent>(clickhouse)
  const expected = published(stableAddress(2), pegEventsOracle(own, horizon / 1000, depth))
  expect(await eventsOf(app, stableAddress(2), '?limit=500')).toEqual(expected)
})

const MINUTES = 7 * 1440
const START = Math.floor(Date.now() / 120_000) * 120 - (MINUTES + 60) * 60

test('a week of slow drift has no break, and a week with planned breaks has exactly those', async ({ clickhouse }) => {
  const plan = planMarket({ seed: 21, blocks: MINUTES, blockSeconds: 60, liveBlockSeconds: 60, stables: 10 })
  const times = Array.from({ length: MINUTES }, (_, i) => START + (i + 1) * 60)
  const samples = plan.tokens.flatMap(({ symbol, address }) =>
    pegSamples(
      address,
      times.map((at, i): Tick => {
        const { status, sell } = plan.quoteAt(symbol, i + 1)
        return { at, price: status === 'quoted' ? Number(sell) : status }
      }),
    ),
  )
  await addMarket(clickhouse, samples, times)
  const [found = []] = await pegExcursions(clickhouse, [], { after: START, ends: [times.at(-1) ?? 0] })
  const breaksOf = (symbol: string) =>
    plan.episodes(1, MINUTES).filter((episode) => 'sizeBps' in episode && episode.stable === symbol)
  let calm = 0
  for (const { symbol, address } of plan.tokens) {
    const own = found.filter(({ stable }) => stable === address)
    const planned = breaksOf(symbol).flatMap(({ kind, fromBlock, toBlock }) => {
      const minutes = toBlock - fromBlock
      const severities = [...(minutes >= 5 ? ['mild'] : []), ...(kind === 'severe_break' ? ['severe'] : [])]
      return severities.map((severity) => `${severity} from ${fromBlock} to ${toBlock}`)
    })
    if (planned.length === 0) calm++
    expect(
      own
        .map(({ severity, started_block, ended_block }) => `${severity} from ${started_block} to ${ended_block}`)
        .sort(),
    ).toEqual(planned.sort())
  }
  expect(calm).toBeGreaterThan(5)
  expect(found.length).toBeGreaterThan(100)
})
