import { expect } from 'vitest'
import { observeQueries } from '../../../../clickhouse/store/observe.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { randomFor } from '../../../../local/chain/random.js'
import { stablecoinsAt } from '../../../../oracle/stablecoins.js'
import { test } from '../../../support/app.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  type Tick,
} from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const LIST = '/api/v1/stablecoins'
const HOUR = 3600
const DAY = 86_400

type Item = { address: string; peg: { price: number; block_number: number } | null; coverage: { status: string } }

/** Statements that the API repeats after some seconds, whatever it is asked. */
const PERIODIC = ['written_history', 'times_from', 'history_start', 'ledger_changes']

test('200 tokens with a pair and no order: the list takes as few statements as it does without them', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const [long, short] = [now - 40 * DAY, now - 60]
  const times = [long, long + 60, short, now]
  await addBlocks(clickhouse, times)
  const ticks = (...prices: Tick['price'][]): Tick[] => prices.map((price, i) => ({ at: times[i] as number, price }))
  const dead = Array.from({ length: 200 }, (_, i) => stableAddress(100 + i))
  const [once, lively, recent] = [1, 2, 3].map(stableAddress) as [string, string, string]
  await addFacts(clickhouse, {
    stablecoins: [1, 2, 3, ...dead.map((_, i) => 100 + i)].map((i) => stablecoin(i, { block_time: long - 1 })),
    samples: [
      ...dead.flatMap((stable) => pegSamples(stable, ticks(...Array<'no_liquidity'>(4).fill('no_liquidity')))),
      ...pegSamples(once, ticks(999_000, 'no_liquidity', 'no_liquidity', 'no_liquidity')),
      ...pegSamples(lively, ticks(998_000, 998_000, 998_000, 997_000)),
      ...pegSamples(recent, ticks('no_liquidity', 'no_liquidity', 996_000, 'no_liquidity')),
    ],
    // Only one has been read recently; the rest not at all or long ago.
    states: [
      stateRead(lively, { block_time: now, block_number: 4 }),
      stateRead(once, { block_time: long, supply_raw: '7' }),
    ],
  })
  const statements: string[] = []
  observeQueries(clickhouse, (query) => statements.push(query))
  const ask = async (query: string): Promise<Record<string, Item>> => {
    statements.length = 0
    const response = await app.inject(`${LIST}${query}`)
    expect(response.statusCode).toBe(200)
    const own = statements.filter((statement) => !PERIODIC.includes(statement))
    expect(own.length, statements.join(', ')).toBeLessThanOrEqual(12)
    return Object.fromEntries((response.json().stablecoins as Item[]).map((item) => [item.address, item]))
  }
  // The first request reads the ledger as well.
  await app.inject(LIST)
  const live = await ask('')
  expect(Object.keys(live)).toHaveLength(203)
  expect(live[once]).toMatchObject({
    peg: { price: 0.999, block_number: 1 },
    supply: { current: '7' },
    coverage: { status: 'partial' },
  })
  expect(live[lively]).toMatchObject({ peg: { price: 0.997 }, coverage: { status: 'complete' } })
  expect(live[recent]).toMatchObject({ peg: { price: 0.996, block_number: 3 }, coverage: { status: 'partial' } })
  for (const stable of dead) expect(live[stable]).toMatchObject({ peg: null, coverage: { status: 'unavailable' } })

  const before = await ask(`?as_of=${short}`)
  expect(before[once]).toMatchObject({ peg: { price: 0.999 }, supply: { current: '7' } })
  expect(before[recent]).toMatchObject({ peg: { price: 0.996 }, coverage: { status: 'complete' } })
  const past = await ask(`?as_of=${long + HOUR}`)
  expect(past[once]).toMatchObject({ peg: { price: 0.999 }, coverage: { status: 'partial' } })
  expect(past[recent]).toMatchObject({ peg: null })
  expect((await ask(`?as_of=${long}`))[once]).toMatchObject({ peg: { price: 0.999 }, coverage: { status: 'complete' } })
})

type Quote = { quoted: boolean | null; unquoted_since: string | null; unquoted_since_is_bound: boolean }

const iso = (at: number): string => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`

test('losing the quote is a state with a start and an end, at any instant and in every answer with a price', async ({
  app,
  clickhouse,
  clock,
}) => {
  const stable = stableAddress(1)
  const start = Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR - 30 * HOUR
  // The second and third block are of one second; then nothing is known of an hour and a half.
  const at = (seconds: number): number => start + seconds
  const ticks: Tick[] = [
    { at: at(10), price: 'no_liquidity' },
    { at: at(20), price: 999_000 },
    { at: at(20), price: 'no_liquidity' },
    { at: at(21), price: 'no_liquidity' },
    { at: at(40), price: 999_500 },
    { at: at(HOUR - 1), price: 999_600 },
    { at: at(HOUR), price: 'paused' },
    { at: at(20 * HOUR), price: 'no_liquidity' },
    { at: at(20 * HOUR + 1), price: 999_700 },
    { at: at(23 * HOUR), price: 'no_liquidity' },
  ]
  const samples = pegSamples(stable, ticks, 11)
  // Blocks 20 to 119 are missing.
  const last = { ...(samples.at(-1) as (typeof samples)[number]), block_number: 120 }
  await addBlocks(
    clickhouse,
    ticks.slice(0, -1).map((tick) => tick.at),
    11,
  )
  await addBlocks(clickhouse, [last.block_time], 120)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: at(5) })],
    samples: [...samples.slice(0, -1), last],
  })
  for (const [instant, quote, age] of [
    [at(10), { since: at(10), bound: true }, null],
    [at(20), { since: at(20), bound: false }, 0],
    [at(39), { since: at(20), bound: false }, 19],
    [at(45), null, 5],
    [at(HOUR - 1), null, 0],
    [at(HOUR + 30), { since: at(HOUR), bound: false }, 31],
    [at(20 * HOUR), { since: at(HOUR), bound: false }, 19 * HOUR + 1],
    [at(22 * HOUR), null, 2 * HOUR - 1],
    [at(24 * HOUR), { since: at(23 * HOUR), bound: true }, 4 * HOUR - 1],
  ] as const) {
    const newest = samples.findLast(({ block_time }) => block_time <= instant)?.block_time as number
    const expected: Quote = {
      // A sample says so for two minutes.
      quoted: instant - newest > 120 ? null : quote === null,
      unquoted_since: quote && iso(quote.since),
      unquoted_since_is_bound: quote?.bound ?? false,
    }
    const query = `?as_of=${instant}`
    const peg = (await app.inject(`${LIST}/${stable}/peg${query}`)).json()
    expect(peg.quote, `${instant - start}`).toEqual(expected)
    expect(peg.current?.quoted ?? null).toBe(age === null ? null : expected.quoted)
    expect(peg.current?.price_age_seconds ?? null).toBe(age)
    const [listed] = (await app.inject(`${LIST}${query}`)).json().stablecoins
    expect(listed.quote).toEqual(expected)
    expect(listed.peg?.price_age_seconds ?? null).toBe(age)
    expect((await app.inject(`${LIST}/${stable}${query}`)).json()).toMatchObject({ quote: expected, peg: listed.peg })
  }
  const live = (await app.inject(`${LIST}/${stable}/peg`)).json()
  expect(live.quote).toEqual({ quoted: null, unquoted_since: iso(at(23 * HOUR)), unquoted_since_is_bound: true })
  const now = Math.floor(clock.now.getTime() / 1000)
  expect(live.current).toMatchObject({ quoted: null, price_age_seconds: now - at(20 * HOUR + 1) })
  expect(live.windows[2]).toMatchObject({ sample_count: 4, unquoted_count: 6, unquoted_share: 0.6 })
})

test('the state of the quote equals that of the samples read one by one, at random instants of a random market', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const random = randomFor(5, 'quotes')
  const times: number[] = []
  for (let at = now - 12 * HOUR; at <= now; at += random.pick([0, 1, 1, 20, 70, 400, 4000])) times.push(at)
  const stables = [1, 2, 3, 4].map(stableAddress)
  const rows = [1, 2, 3, 4].map((i) => stablecoin(i, { block_time: (times[0] as number) - (i % 2) }))
  const samples = stables.flatMap((stable, i) => {
    let isQuoted = i > 0
    const ticks = times.map((at): Tick => {
      if (i > 0 && random.chance([0, 0.5, 0.1, 0.03][i] as number)) isQuoted = !isQuoted
      return { at, price: isQuoted ? 999_000 + random.int(0, 2000) : random.pick(['no_liquidity', 'paused']) }
    })
    return pegSamples(stable, ticks)
  })
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: rows, samples })
  const facts = {
    stablecoins: rows.map((row) => ({ ...row, at: row.block_time })),
    peg_samples: samples.map((row) => ({ ...row, at: row.block_time })),
    dex_pairs: rows.map(({ stable: base, quote_token: quote, block_time: at }) => ({ base, quote, at })),
    state_reads: [],
    token_lists: [],
  } as unknown as Parameters<typeof stablecoinsAt>[0]
  for (let i = 0; i < 40; i++) {
    const at = random.chance(0.5) ? random.pick(times) : random.int(times[0] as number, now)
    const { stablecoins } = (await app.inject(`${LIST}?as_of=${at}`)).json()
    expect(stablecoins, `${at}`).toMatchObject(stablecoinsAt(facts, at))
  }
})

test('dead books score as the worst and back nothing: never a bid, the only bid cancelled, sold out; a market that moves 3 bps does not', async ({
  app,
  clickhouse,
  clock,
}) => {
  const slot = Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR
  const minutes = Array.from({ length: 1440 }, (_, i) => slot - DAY + 60 * (i + 1))
  const prices: Record<string, (i: number) => Tick['price']> = {
    'never a bid': () => 'no_liquidity',
    'no pair': () => 'no_pair',
    'only bid cancelled after two hours': (i) => (i < 120 ? 1_000_000 : 'no_liquidity'),
    'a minute without a bid': (i) => (i === 700 ? 'no_liquidity' : 1_000_000),
    'moves 3 bps': (i) => 1_000_000 + 300 * ((i % 3) - 1),
    'not in dollars': () => 'not_usd',
  }
  const names = Object.keys(prices)
  await addBlocks(clickhouse, [...minutes, slot + 1])
  await addFacts(clickhouse, {
    stablecoins: names.map((name, i) =>
      stablecoin(i + 1, { block_time: slot - 2 * DAY, currency: name === 'not in dollars' ? 'EUR' : 'USD' }),
    ),
    samples: names.flatMap((name, i) =>
      pegSamples(
        stableAddress(i + 1),
        minutes.map((at, minute) => ({ at, price: (prices[name] as (i: number) => Tick['price'])(minute) })),
      ),
    ),
    states: names.map((_, i) =>
      stateRead(stableAddress(i + 1), { cap_raw: `${2n ** 128n - 1n}`, block_time: slot - DAY, block_number: 1 }),
    ),
  })
  await snapshotRisk(clickhouse, slotAt('risk', slot))
  await snapshotReserves(clickhouse, slotAt('reserves', slot))
  const published = async (i: number) => {
    const own = `${LIST}/${stableAddress(i + 1)}`
    const { composite, components, methodology } = (await app.inject(`${own}/risk`)).json()
    const reserves = (await app.inject(`${own}/reserves`)).json()
    const { peg_risk, peg_break_risk } = components
    expect(methodology).toBe('v3')
    return [composite, peg_risk, peg_break_risk, reserves.total_backing_usd]
  }
  expect(Object.fromEntries(await Promise.all(names.map(async (name, i) => [name, await published(i)])))).toEqual({
    'never a bid': [86.5, 100, 85, null],
    'no pair': [86.5, 100, 85, null],
    'only bid cancelled after two hours': [86.496, 99.99, 85, null],
    'a minute without a bid': [59.804, 97.01, 0, 5],
    'moves 3 bps': [25.932, 12.33, 0, 5.0015],
    'not in dollars': [61, 100, 0, null],
  })
})
