import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import type { Family } from '../../../../clickhouse/chain/batches.js'
import type { Flow } from '../../../../clickhouse/flows/flows.js'
import { type OracleEvent, pegEventsOracle } from '../../../../oracle/peg-events.js'
import { test as base } from '../../../support/app.js'
import { expectedBreaks, inOrder, storedEvents } from '../../../support/events.js'
import { addBatch } from '../../../support/ledger.js'
import { eventsOf, storedExcursions, withPublication } from '../../../support/peg-events.js'
import { newestRevisions } from '../../../support/publications.js'
import { runJobs } from '../../../support/ran-slots.js'
import { addBareBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { withDatabase } from '../../../support/services.js'
import { blockTimes, wildDepths, wildSamples } from '../../../support/wild-market.js'

const WILD_STABLES = 3
/** A stable that loses its peg before the tip's first block and regains it after. */
const STRADDLING = stableAddress(9)
const MINUTES = 48
const WINDOW = 900

const test = base.extend<{ start: number }>({
  // Right between two slots, some hours ago.
  start: async ({ clock }, use) => use((Math.floor(clock.now.getTime() / 900_000) - 24) * 900 + 60),
})

const PEG_JOBS = ['peg-events', 'risk']

const rowsOf = async (clickhouse: ClickHouseClient, query: string): Promise<unknown[]> =>
  (await clickhouse.query({ query, format: 'JSONEachRow' })).json()

/** The rows about pegs that the jobs have written, as readers see them. */
const written = async (clickhouse: ClickHouseClient) => ({
  excursions: await storedExcursions(clickhouse),
  risk: await rowsOf(
    clickhouse,
    `SELECT * EXCEPT (revision, published_at) FROM (${newestRevisions('risk_snapshots')}) ORDER BY stable, slot_at`,
  ),
})

/** A market of some stables, and functions that add ranges of its blocks. */
function madeUpMarket(start: number) {
  const times = blockTimes(24, start, MINUTES * 60)
  const last = times.at(-1) ?? 0
  const isOff = (at: number) => at > start + (MINUTES / 4) * 60 && at < start + (MINUTES * 3 * 60) / 4
  const straddling = times.map((at) => ({ at, price: isOff(at) ? 1_002_000 : 1_000_000 }))
  const samples = [...wildSamples(24, WILD_STABLES, times), ...pegSamples(STRADDLING, straddling)]
  const depths = wildDepths(24, samples)
  const stables = [...new Set(samples.map(({ stable }) => stable))]
  const addCatalogue = (clickhouse: ClickHouseClient) =>
    addFacts(clickhouse, { stablecoins: stables.map((stable, i) => stablecoin(i, { stable, block_time: start - 1 })) })
  /** Adds families of the blocks from `from` to `to`, which are numbered from 1, with their batch in the ledger. */
  async function add(
    clickhouse: ClickHouseClient,
    { track, sequence, from, to }: { track: string; sequence: number; from: number; to: number },
    families: readonly Family[] = ['catalogue', 'logs', 'pegs', 'state'],
  ): Promise<void> {
    if (families.includes('pegs')) {
      const isOfRange = ({ block_number }: { block_number: number }) => block_number >= from && block_number <= to
      await addFacts(clickhouse, { samples: samples.filter(isOfRange), depths: depths.filter(isOfRange) })
    }
    if (families.includes('logs')) await addBareBlocks(clickhouse, times.slice(from - 1, to), from)
    await addBatch(clickhouse, track, sequence, { from_block: from, to_block: to, families })
  }
  const seam = times.findIndex((at) => at > start + (MINUTES / 2) * 60) + 1
  return { times, last, samples, depths, stables, seam, addCatalogue, add }
}

/** The rows that the jobs write about a market that is ingested from its start. */
const inOnePass = ({ addCatalogue, add, times }: ReturnType<typeof madeUpMarket>) =>
  withDatabase(async (_, fresh) => {
    await addCatalogue(fresh)
    await add(fresh, { track: 'tip', sequence: 1, from: 1, to: times.length })
    await runJobs(fresh, PEG_JOBS)
    return written(fresh)
  })

test('a history that a backfill adds before the tip gives the same result as one pass over all of it', {
  timeout: 600_000,
}, async ({ app, clickhouse, start }) => {
  const market = madeUpMarket(start)
  const { addCatalogue, add, times, last, samples, depths, stables, seam } = market
  await addCatalogue(clickhouse)
  await add(clickhouse, { track: 'tip', sequence: 1, from: seam, to: times.length })
  await runJobs(clickhouse, PEG_JOBS)
  const atSeam = (await storedEvents(clickhouse)).filter(({ stables }) => stables.includes(STRADDLING))
  expect(atSeam, 'nobody knows that it began before the first block').toEqual([])

  // Newest first: the part that begins while the stable is off its peg, and then the rest.
  const middle = Math.floor((seam * 3) / 4)
  await add(clickhouse, { track: 'backfill', sequence: 1, from: middle, to: seam - 1 })
  const before = await written(clickhouse)
  await runJobs(clickhouse, PEG_JOBS, 100_000)
  expect(await written(clickhouse), 'while the backfill is at work').toEqual(before)
  await add(clickhouse, { track: 'backfill', sequence: 2, from: 1, to: middle - 1 })
  await runJobs(clickhouse, PEG_JOBS)
  const expected = await inOnePass(market)
  expect(await written(clickhouse)).toEqual(expected)
  expect(expected.excursions).not.toEqual(before.excursions)

  // Each is listed as defined.
  const horizon = Math.floor((last - 1) / 120) * 120
  const published = await withPublication<OracleEvent>(clickhouse)
  for (const stable of stables) {
    const own = samples.filter((sample) => sample.stable === stable)
    const depth = depths.filter((sample) => sample.stable === stable)
    const expected = published(stable, pegEventsOracle(own, horizon, depth))
    expect(await eventsOf(app, stable, '?limit=500'), stable).toEqual(expected)
  }
  const straddling = await eventsOf(app, STRADDLING)
  expect(straddling).toMatchObject([{ ongoing: false, severity: 'mild' }])
  expect(straddling[0]?.started_block).toBeLessThan(middle)

  // Exactly the breaks of the whole history are announced, with their data, and none was ever taken back.
  expect(inOrder(await storedEvents(clickhouse))).toEqual(inOrder(expectedBreaks(samples, horizon, depths)))
})

test('prices that are ingested after their blocks give the same breaks as if ingested with them', {
  timeout: 600_000,
}, async ({ clickhouse, start }) => {
  const market = madeUpMarket(start)
  const { addCatalogue, add, times, seam } = market
  // The tip begins while the stable is off its peg, and only part of its prices are ingested by then.
  const known = times.findIndex((at) => at > start + (MINUTES / 3) * 2 * 60) + 1
  await addCatalogue(clickhouse)
  await add(clickhouse, { track: 'tip', sequence: 1, from: seam, to: known })
  await runJobs(clickhouse, PEG_JOBS)
  const logs = { track: 'backfill', sequence: 1, from: 1, to: seam - 1 }
  await add(clickhouse, logs, ['logs'])
  await runJobs(clickhouse, PEG_JOBS)
  // The break at the seam still begins there and is in progress.
  const openAtSeam = `SELECT toUInt32(started_block) AS block FROM peg_breaks FINAL WHERE track = 'published' AND stable = '${STRADDLING}' AND ended_at IS NULL`
  expect(await rowsOf(clickhouse, openAtSeam)).toEqual([{ block: seam }])
  await add(clickhouse, { ...logs, sequence: 2 }, ['pegs', 'state'])
  await runJobs(clickhouse, PEG_JOBS)
  await add(clickhouse, { track: 'tip', sequence: 2, from: known + 1, to: times.length })
  await runJobs(clickhouse, PEG_JOBS)
  expect(await written(clickhouse)).toEqual(await inOnePass(market))
  // It was never announced at the seam, where it did not begin.
  const events = (await storedEvents(clickhouse)).filter(({ stables }) => stables.includes(STRADDLING))
  expect(events.map(({ type, data }) => [type, data.started_block === seam])).toEqual([
    ['peg_break.started', false],
    ['peg_break.ended', false],
  ])
})

test('flow anomalies use the baselines of all of history', { timeout: 600_000 }, async ({ clickhouse, start }) => {
  const first = start - 60
  const usd = (to: number, window: number, value: number): Flow =>
    flow(1, to, first + window * WINDOW + 450, {
      usd_micros: `${value}000000`,
      block_number: window + 1,
      log_index: to,
    })
  const steady = (window: number) => (window % 2 ? 12 : 10)
  const windows = Array.from({ length: 19 }, (_, window) => window)
  // Edge 2 has ten windows before the last but four only with those before the seam; edge 3 was much wilder before it.
  const flows = windows.flatMap((window) => [
    usd(2, window, window === 14 ? 40 : steady(window)),
    usd(3, window, window < 6 ? (window % 2 ? 1 : 1000) : window === 18 ? 40 : steady(window)),
  ])
  const seam = 7
  const add = async (to: ClickHouseClient, from: number, until: number) => {
    await addFacts(to, { flows: flows.filter(({ block_number }) => block_number >= from && block_number <= until) })
    const blocks = Array.from({ length: until - from + 1 }, (_, i) => first + (from + i - 1) * WINDOW + 450)
    await addBareBlocks(to, blocks, from)
  }
  const stored = (from: ClickHouseClient) =>
    rowsOf(from, 'SELECT * EXCEPT revision FROM flow_anomalies FINAL ORDER BY window_start, to_token')
  const edges = (rows: unknown[]) => rows.map((row) => (row as { to_token: string }).to_token)

  await add(clickhouse, seam, 20)
  await addBatch(clickhouse, 'tip', 1, { from_block: seam, to_block: 20 })
  await runJobs(clickhouse, ['flow-anomalies'])
  expect(await stored(clickhouse), 'the baselines are not whole').toEqual([])
  await add(clickhouse, 1, seam - 1)
  await addBatch(clickhouse, 'backfill', 1, { from_block: 1, to_block: seam - 1 })
  await runJobs(clickhouse, ['flow-anomalies'])
  const found = await stored(clickhouse)
  expect(edges(found)).toEqual([stableAddress(2)])
  const expected = await withDatabase(async (_, fresh) => {
    await add(fresh, 1, 20)
    await runJobs(fresh, ['flow-anomalies'])
    return stored(fresh)
  })
  expect(found).toEqual(expected)
})
