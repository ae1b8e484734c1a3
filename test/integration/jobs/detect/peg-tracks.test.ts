import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import { randomFor } from '../../../../local/chain/random.js'
import { DEFAULT_DETECTORS } from '../../../../tools/backtest/detectors.js'
import { runDetectors } from '../../../../tools/backtest/run.js'
import { test as base } from '../../../support/app.js'
import { depth } from '../../../support/depth.js'
import { inOrder, standing, storedEvents } from '../../../support/events.js'
import { addBatch } from '../../../support/ledger.js'
import { expectedTracks, PEG_TRACKS_JOB as JOB, storedTracks } from '../../../support/peg-tracks.js'
import { repairedViews } from '../../../support/repair-views.js'
import { pegSamples, stableAddress } from '../../../support/rows.js'
import { withDatabase } from '../../../support/services.js'
import { REVISIONS, runPass, runSlots, slotsOf } from '../../../support/slots.js'
import { addMarket, blockTimes, wildDepths, wildSamples, withDrySpells } from '../../../support/wild-market.js'

const HOUR = 3600
const STABLES = 4
const MARKET_HOURS = depth('MARKET_HOURS', 2, 3)

const test = base.extend<{ start: number }>({
  // Right between two slots, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 120_000) - 150) * 120 + 60),
})

type Market = { times: number[]; samples: PegSample[]; depths: DepthSample[] }

function marketOf(seed: number, start: number, seconds: number, firstBlock = 1): Market {
  const times = blockTimes(seed, start, seconds)
  const samples = withDrySpells(seed, wildSamples(seed, STABLES, times, firstBlock))
  return { times, samples, depths: wildDepths(seed, samples) }
}

const add = (clickhouse: ClickHouseClient, { times, samples, depths }: Market, firstBlock = 1): Promise<void> =>
  addMarket(clickhouse, samples, times, firstBlock, depths)

const endOf = (slots: readonly { at: Date }[]): number => (slots.at(-1)?.at.getTime() ?? 0) / 1000

test('every break and every lost quote is announced once as begun and once as ended, with the data known then', {
  timeout: 600_000,
}, async ({ clickhouse, start }) => {
  const market = marketOf(31, start, 2 * HOUR)
  await add(clickhouse, market)
  const slots = slotsOf(JOB, start, market.times.at(-1) ?? 0)
  await runSlots(clickhouse, JOB, slots)
  const events = await storedEvents(clickhouse)
  const expected = expectedTracks(market.samples, market.depths, endOf(slots))
  for (const type of ['agreed_break.started', 'agreed_break.ended', 'peg_quote.lost', 'peg_quote.back'])
    expect(expected.filter((event) => event.type === type).length, type).toBeGreaterThan(5)
  expect(new Set(expected.map(({ data }) => data.direction)).size).toBe(3)
  expect(inOrder(events)).toEqual(inOrder(expected))
  for (const { type, stables, data, slot_at, occurred_at } of events) {
    expect(stables).toEqual([data.stable])
    expect(occurred_at).toBeGreaterThan(slot_at - 120)
    expect(occurred_at).toBeLessThanOrEqual(slot_at)
    if (/ended|back/.test(type)) expect(occurred_at).toBe(Date.parse(String(data.ended_at)) / 1000)
  }

  // Repeated slots, in any order, also when their tokens are forgotten, and under other revisions.
  const once = await storedTracks(clickhouse)
  const random = randomFor(31, 'again')
  for (let i = 0; i < 10; i++) await JOB.task(clickhouse, random.pick(slots))
  for (const revision of REVISIONS.slice(1)) {
    const from = random.int(0, slots.length - 10)
    for (const slot of slotsOf(JOB, start, endOf(slots), revision).slice(from)) await JOB.task(clickhouse, slot)
  }
  expect(await storedTracks(clickhouse)).toEqual(once)
  expect(await storedEvents(clickhouse)).toEqual(events)
})

test('slot by slot, the live tracks find what the backtest of their settings finds in one pass', {
  timeout: 600_000,
}, async ({ clickhouse, start }) => {
  const market = marketOf(37, start, MARKET_HOURS * HOUR)
  await add(clickhouse, market)
  const slots = slotsOf(JOB, start, market.times.at(-1) ?? 0)
  await runSlots(clickhouse, JOB, slots)
  const query = `
    SELECT stable, concat(severity, '-agreed') AS name, toUnixTimestamp(started_at) AS started_at, toUInt32(started_block) AS started_block,
           toUnixTimestamp(confirmed_at) AS confirmed_at, toUnixTimestamp(ended_at) AS ended_at, toUInt32(ended_block) AS ended_block,
           direction, max_deviation_micros / 100 AS max_deviation_bps
    FROM peg_breaks FINAL WHERE track = 'agreed' ORDER BY stable, name, started_block`
  const live = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  const detectors = DEFAULT_DETECTORS.filter(({ agree_tokens }) => agree_tokens !== null)
  expect(detectors.map(({ name }) => name)).toEqual(['mild-agreed', 'severe-agreed'])
  const backtest: unknown[] = []
  for (let i = 1; i <= STABLES; i++) {
    const range = { stable: stableAddress(i), from: start - 1, to: endOf(slots) }
    const runs = await runDetectors(clickhouse, detectors, range, new AbortController().signal)
    for (const [at, { stable, breaks }] of runs.entries())
      for (const { kind, seen: _, ...found } of breaks)
        if (kind === 'deviation') backtest.push({ stable, name: detectors[at]?.name, ...found })
  }
  expect(backtest.length).toBeGreaterThan(7 * MARKET_HOURS)
  expect(live).toEqual(backtest)
})

test('after reorganizations exactly the events of the final chain stand, and all others are retracted', {
  timeout: 600_000,
}, async ({ clickhouse, start }) => {
  let kept = marketOf(41, start, HOUR)
  await add(clickhouse, kept)
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, kept.times.at(-1) ?? 0))
  const random = randomFor(41, 'rollbacks')
  for (const revision of REVISIONS) {
    const before = await storedEvents(clickhouse)
    const blocks = random.int(Math.floor(kept.times.length / 4), kept.times.length - 20)
    const keptTime = kept.times[blocks - 1] ?? 0
    await removeFacts(clickhouse, { from_block: blocks + 1, from_time: keptTime })
    await repairedViews(clickhouse)
    const from = keptTime + random.int(0, 5)
    const added = marketOf(410 + revision, from, start + HOUR - keptTime, blocks + 1)
    await add(clickhouse, added, blocks + 1)
    const isKept = ({ block_number }: { block_number: number }): boolean => block_number <= blocks
    kept = {
      times: [...kept.times.slice(0, blocks), ...added.times],
      samples: [...kept.samples.filter(isKept), ...added.samples],
      depths: [...kept.depths.filter(isKept), ...added.depths],
    }
    const all = slotsOf(JOB, start, kept.times.at(-1) ?? 0, revision)
    await runSlots(
      clickhouse,
      JOB,
      all.filter(({ at }) => at.getTime() / 1000 >= keptTime),
    )
    const events = await storedEvents(clickhouse)
    expect(events.slice(0, before.length)).toEqual(before)
    expect(inOrder(standing(events))).toEqual(inOrder(expectedTracks(kept.samples, kept.depths, endOf(all))))
    const fresh = await withDatabase(async (_, other) => {
      await add(other, kept)
      await runPass(other, JOB, slotsOf(JOB, start, kept.times.at(-1) ?? 0))
      return storedTracks(other)
    })
    expect(await storedTracks(clickhouse), `rollback ${revision} to ${blocks}`).toEqual(fresh)
  }
  expect((await storedEvents(clickhouse)).filter(({ type }) => type === 'event.retracted').length).toBeGreaterThan(5)
})

test('what may have begun before the first block that is read is not announced', async ({ clickhouse, start }) => {
  // A block a minute from block 100 on; each stable is away for six minutes, the first one from the beginning.
  const minutes = Array.from({ length: 60 }, (_, i) => start + i * 60)
  const away = [0, 10, 40].map((from) => minutes.map((_, i) => i >= from && i < from + 6))
  const isDry = (i: number): boolean => i >= 3 && i < 8
  const samples = [
    ...away.map((isAway, i) =>
      pegSamples(
        stableAddress(i + 1),
        minutes.map((at, minute) => ({ at, price: isAway[minute] ? 990_000 : 1_000_000 })),
        100,
      ),
    ),
    ...[0, 3].map((from, i) =>
      pegSamples(
        stableAddress(i + 4),
        minutes.map((at, minute) => ({ at, price: isDry(minute + 3 - from) ? 'no_liquidity' : 1_000_000 })),
        100,
      ),
    ),
  ].flat()
  await addMarket(clickhouse, samples, minutes, 100)
  await addBatch(clickhouse, 'tip', 1, { from_block: 100, to_block: 159 })
  await runSlots(clickhouse, JOB, slotsOf(JOB, start, start + 3600))
  const query =
    "SELECT DISTINCT stable FROM peg_breaks FINAL WHERE track = 'agreed' AND severity = 'mild' ORDER BY stable"
  expect(await (await clickhouse.query({ query, format: 'JSONEachRow' })).json()).toHaveLength(3)
  // Ten minutes after the first block, averages from before it may still matter; half an hour later they do not.
  const told = new Set((await storedEvents(clickhouse)).map(({ type, data }) => `${type} ${data.stable}`))
  expect([...told].sort()).toEqual([
    `agreed_break.ended ${stableAddress(3)}`,
    `agreed_break.started ${stableAddress(3)}`,
    `peg_quote.back ${stableAddress(5)}`,
    `peg_quote.lost ${stableAddress(5)}`,
  ])
})
