import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { pegEventsOracle } from '../../../../oracle/peg-events.js'
import { DEFAULT_DETECTORS, Detectors } from '../../../../tools/backtest/detectors.js'
import { pricedStables, pricesOf } from '../../../../tools/backtest/prices.js'
import { runDetectors, type StableRun } from '../../../../tools/backtest/run.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { pegSamples, stableAddress } from '../../../support/rows.js'
import { test } from '../../../support/services.js'
import { addMarket, blockTimes, wildSamples } from '../../../support/wild-market.js'

const PROGRAM = new URL('../../../../dist/tools/backtest/backtest-main.js', import.meta.url).pathname
const START = 1_780_000_000
const HOUR = 3600
const never = new AbortController().signal
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

test('on stored samples, the published tracks find the published events', async ({ clickhouse }) => {
  const times = blockTimes(3, START, 12 * HOUR)
  const samples = wildSamples(3, 3, times)
  await addMarket(clickhouse, samples, times)
  const range = { from: START - 1, to: times.at(-1) as number }
  const tracks = DEFAULT_DETECTORS.filter(({ agree_tokens }) => agree_tokens === null)
  const stables = await pricedStables(clickhouse, range)
  expect(stables).toEqual([1, 2, 3].map(stableAddress))
  let events = 0
  for (const stable of stables) {
    const runs = await runDetectors(clickhouse, tracks, { stable, ...range }, never)
    const own = samples.filter((sample) => sample.stable === stable)
    const published = pegEventsOracle(own, range.to)
    for (const [i, { name }] of tracks.entries()) {
      const found = runs[i]?.breaks.map(({ started_at, ended_at, max_deviation_bps }) => ({
        severity: name,
        started_at: iso(started_at),
        ended_at: ended_at === null ? null : iso(ended_at),
        max_deviation_bps,
      }))
      expect(found?.reverse()).toMatchObject(
        published
          .filter(({ severity }) => severity === name)
          .map(({ severity, started_at, ended_at, max_deviation_bps }) => ({
            severity,
            started_at,
            ended_at,
            max_deviation_bps,
          })),
      )
      events += found?.length ?? 0
    }
    // What no sample speaks for is said: a sample speaks for at most two minutes.
    const [run] = runs as [StableRun]
    const missing = times.reduce((sum, time, at) => sum + Math.max(0, time - (times[at - 1] ?? START) - 120), 0)
    expect(run.gaps.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(missing)
    expect(run.measured_seconds + missing).toBe(range.to - range.from)
  }
  expect(events).toBeGreaterThan(10)
})

/** Depth samples of one size, sold at a price in millionths; null: the book does not take so many. */
const depths = (stable: string, ticks: readonly { at: number; price: number | null }[]): DepthSample[] =>
  ticks.map(({ at, price }, i) => ({
    stable,
    size_tokens: 10_000,
    block_number: i + 1,
    block_time: at,
    sell_status: price === null ? 'no_liquidity' : 'quoted',
    sell_raw: price === null ? null : `${price * 10_000}`,
    buy_status: 'no_liquidity',
    buy_raw: null,
  }))

test('a detector of a size follows what so many tokens sell for', async ({ clickhouse }) => {
  const times = Array.from({ length: 60 }, (_, i) => START + i * 60)
  const stable = stableAddress(1)
  // Somebody bids a little too low for one token; then the book is dry for more.
  const one = times.map((at, i) => ({ at, price: i >= 10 && i < 20 ? 998_000 : 1_000_000 }))
  await addMarket(clickhouse, pegSamples(stable, one), times)
  const many = times.map((at, i) => ({ at, price: i >= 40 && i < 50 ? null : i >= 30 && i < 38 ? 997_000 : 999_900 }))
  await insertFacts(clickhouse, 'depth_samples', depths(stable, many), 'depth')
  const detectors = Detectors.parse([
    { name: 'one', enter_bps: 10, min_seconds: 300, unquoted_seconds: 300 },
    { name: 'many', size_tokens: 10_000, enter_bps: 10, min_seconds: 300, unquoted_seconds: 300 },
  ])
  const range = { from: START - 1, to: times.at(-1) as number }
  const [first, second] = await runDetectors(clickhouse, detectors, { stable, ...range }, never)
  const minute = (i: number): number => START + i * 60
  expect(first?.breaks).toEqual([
    {
      kind: 'deviation',
      direction: 'below',
      started_at: minute(10),
      started_block: 11,
      confirmed_at: minute(15),
      ended_at: minute(20),
      ended_block: 21,
      max_deviation_bps: 20,
      seen: { first_at: minute(0), first_block: 1, inside_at: minute(9), inside_block: 10 },
    },
  ])
  expect(second?.breaks).toMatchObject([
    { kind: 'deviation', started_at: minute(30), ended_at: minute(38), max_deviation_bps: 30 },
    { kind: 'unquoted', started_at: minute(40), confirmed_at: minute(45), ended_at: minute(50) },
  ])
})

test('where the prices of two sizes disagree, the one closer to the peg counts', async ({ clickhouse }) => {
  const times = Array.from({ length: 60 }, (_, i) => START + i * 60)
  const stable = stableAddress(1)
  const within = (i: number, from: number, to: number): boolean => i >= from && i < to
  // A bid for one token that is too low, then a book that is too thin, then a break that both show, then dry for more.
  const one = (i: number) => (within(i, 5, 12) || within(i, 25, 35) ? -2500 : within(i, 40, 48) ? 1500 : 100)
  const many = (i: number) =>
    within(i, 14, 22) ? -4000 : within(i, 25, 35) ? -2000 : within(i, 44, 46) ? -9000 : within(i, 46, 48) ? null : 0
  await addMarket(
    clickhouse,
    pegSamples(
      stable,
      times.map((at, i) => ({ at, price: 1_000_000 + one(i) })),
    ),
    times,
  )
  const larger = times.map((at, i) => ({ at, price: many(i) === null ? null : 1_000_000 + (many(i) as number) }))
  await insertFacts(clickhouse, 'depth_samples', depths(stable, larger), 'depth')
  const detectors = Detectors.parse([{ name: 'both', agree_tokens: 10_000, enter_bps: 10, min_seconds: 0 }])
  const range = { from: START - 1, to: times.at(-1) as number }
  const [run] = await runDetectors(clickhouse, detectors, { stable, ...range }, never)
  expect(
    run?.breaks.map(({ started_at, ended_at, max_deviation_bps }) => [started_at, ended_at, max_deviation_bps]),
  ).toEqual([
    [START + 25 * 60, START + 35 * 60, 20],
    // Nothing is known of more tokens there, so the price of one stands.
    [START + 46 * 60, START + 48 * 60, 15],
  ])
})

test('the agreed prices of a range that is read in parts are those of the whole', async ({ clickhouse }) => {
  const times = Array.from({ length: 120 }, (_, i) => START + i * 20)
  const stable = stableAddress(1)
  const wild = (i: number): number => 1_000_000 + ((i * 7919) % 41) * 100 - 2000
  await addMarket(
    clickhouse,
    pegSamples(
      stable,
      times.map((at, i) => ({ at, price: wild(i) })),
    ),
    times,
  )
  // Some hold for longer than two minutes, and none for ten minutes.
  const sampled = times.map((at, i) => ({ at, price: wild(3 * i) })).filter((_, i) => i % 9 === 4 && (i < 60 || i > 90))
  const rows = depths(stable, sampled).map((row) => ({ ...row, block_number: times.indexOf(row.block_time) + 1 }))
  await insertFacts(clickhouse, 'depth_samples', rows, 'depth')
  const read = async (from: number, to: number): Promise<number[]> => {
    const asked = { stable, from, to, price: 'bid', size_tokens: 1, agree_tokens: 10_000 } as const
    const parts: number[] = []
    for await (const part of pricesOf(clickhouse, asked, never)) parts.push(...part)
    return parts
  }
  const [from, to] = [START - 1, times.at(-1) as number]
  const whole = await read(from, to)
  expect(whole).toHaveLength(120 * 3)
  for (let at = from + 10; at < to; at += 70)
    expect([...(await read(from, at)), ...(await read(at, to))]).toEqual(whole)
})

test('the program compares detectors with labels, in each format, and writes nothing', async ({
  clickhouse,
  clickhouseEnv,
}) => {
  const times = Array.from({ length: 240 }, (_, i) => START + i * 60)
  const stable = stableAddress(1)
  const isOut = (i: number): boolean => (i >= 20 && i < 30) || (i >= 100 && i < 108)
  await addMarket(
    clickhouse,
    pegSamples(
      stable,
      times.map((at, i) => ({ at, price: isOut(i) ? 998_500 : 1_000_000 })),
    ),
    times,
  )
  const before = await fingerprint(clickhouse)
  const folder = await mkdtemp(join(tmpdir(), 'backtest-'))
  try {
    const labels = join(folder, 'labels.csv')
    await writeFile(labels, `stable,from,to,bps\n${stable},${iso(START + 20 * 60)},${iso(START + 30 * 60)},-15\n`)
    const detectors = join(folder, 'detectors.json')
    await writeFile(detectors, JSON.stringify([{ name: 'quick', enter_bps: 10, min_seconds: 60 }]))
    const backtest = async (...args: string[]): Promise<string> => {
      const range = ['--from', `${START - 1}`, '--to', `${times.at(-1)}`]
      const flags = [PROGRAM, ...range, '--detectors', detectors, ...args]
      return (await promisify(execFile)(process.execPath, flags, { env: clickhouseEnv })).stdout
    }
    const { detectors: rows } = JSON.parse(await backtest('--labels', labels, '--format', 'json')) as {
      detectors: { score: object; breaks: object[] }[]
    }
    expect(rows[0]?.score).toMatchObject({
      ...{ stables: 1, missing_seconds: 0, events: 2, labels: 1, found: 1, recall: 1, false_alarms: 1, precision: 0.5 },
      ...{ delay_p50_seconds: 60, delay_p95_seconds: 60, stable_weeks: (239 * 60 + 1) / 604_800 },
    })
    expect(rows[0]?.breaks).toMatchObject([
      { stable, started_at: iso(START + 20 * 60), ended_at: iso(START + 30 * 60) },
      { stable, started_at: iso(START + 100 * 60), ended_at: iso(START + 108 * 60) },
    ])
    const [head, row] = (await backtest('--labels', labels, '--format', 'csv')).trim().split('\n')
    expect(head).toMatch(/^name,price,size_tokens,.*,recall,/)
    expect(row).toMatch(/^quick,bid,1,/)
    expect(await backtest('--labels', labels)).toMatch(/quick +2 +1 +1 +1 .*60 s/)
    expect(await backtest()).toMatch(/no labels: neither recall nor precision is known/)
  } finally {
    await rm(folder, { recursive: true })
  }
  expect(await fingerprint(clickhouse)).toEqual(before)
})

test('a range in which nothing had a price is an error that says so', async ({ clickhouseEnv }) => {
  const run = promisify(execFile)(process.execPath, [PROGRAM], { env: clickhouseEnv })
  await expect(run).rejects.toThrow(/no stable had a price in this range/)
})
