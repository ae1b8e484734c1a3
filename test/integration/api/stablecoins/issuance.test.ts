import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { insertChainHead } from '../../../../clickhouse/chain/heads.js'
import type { StateRead } from '../../../../clickhouse/stablecoins/states.js'
import type { SupplyEvent } from '../../../../clickhouse/supply/supply.js'
import { randomFor } from '../../../../local/chain/random.js'
import { coverageAt } from '../../../../oracle/coverage.js'
import { issuanceAt } from '../../../../oracle/issuance.js'
import { iso } from '../../../../oracle/rows.js'
import { isoSeconds } from '../../../../process/instants.js'
import { test } from '../../../support/app.js'
import { cachedApp } from '../../../support/cached-app.js'
import { account } from '../../../support/economy-rows.js'
import { economyFacts } from '../../../support/oracle/economy-facts.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomIssuance } from '../../../support/random-issuance.js'
import {
  addBlocks,
  addFacts,
  stableAddress,
  stablecoin,
  stateRead,
  supplyEvent,
  txHash,
} from '../../../support/rows.js'

const STABLE = stableAddress(1)
const URL = `/api/v1/stablecoins/${STABLE}/issuance`
const FEE_MANAGER = '0xfeec000000000000000000000000000000000000'
const HOUR = 3600
const DAY = 24 * HOUR

/** Blocks an hour apart that end at `end`; the state of the stable is read in each. */
function chain(end: number, days: number) {
  const times = Array.from({ length: days * 24 + 1 }, (_, i) => end - (days * 24 - i) * HOUR)
  const blockAt = (time: number): number => times.indexOf(time) + 1
  const events: SupplyEvent[] = []
  /** An event at a block's time; amounts in whole tokens, unless they are big. */
  const add = (
    kind: SupplyEvent['kind'],
    tokens: number | bigint,
    time: number,
    changes: Partial<SupplyEvent> = {},
  ) => {
    const amount_raw = typeof tokens === 'bigint' ? `${tokens}` : `${tokens * 1e6}`
    events.push(
      supplyEvent(STABLE, {
        kind,
        amount_raw,
        block_number: blockAt(time),
        block_time: time,
        log_index: events.length,
        tx_hash: txHash(events.length),
        account: account(1),
        ...changes,
      }),
    )
  }
  const states = (): StateRead[] => {
    let supply = 0n
    return times.map((block_time, i) => {
      for (const { kind, amount_raw } of events.filter((event) => event.block_time === block_time))
        if (kind !== 'cap') supply += BigInt(amount_raw) * (kind === 'mint' ? 1n : -1n)
      return stateRead(STABLE, { block_number: i + 1, block_time, supply_raw: `${supply}` })
    })
  }
  /** Writes it, without the blocks in [from, to) of a hole. */
  const write = async (
    clickhouse: ClickHouseClient,
    made: number,
    hole: [number, number] = [0, 0],
    block_number = blockAt(made),
  ): Promise<void> => {
    const isRead = ({ block_number }: { block_number: number }) => block_number < hole[0] || block_number >= hole[1]
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1, { block_number, block_time: made })],
      supplyEvents: events.filter(isRead),
      states: states().filter((state) => state.block_time >= made && isRead(state)),
    })
    if (hole[1] === 0) return addBlocks(clickhouse, times)
    await addBlocks(clickhouse, times.slice(0, hole[0] - 1))
    await addBlocks(clickhouse, times.slice(hole[1] - 1), hole[1])
  }
  return { times, blockAt, add, write }
}

const hourOf = (clock: { now: Date }): number => Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR

/** The history of the example in the methodology. */
function example(end: number) {
  const made = chain(end, 40)
  made.add('mint', 1_000_000, end - 35 * DAY)
  for (let day = 1; day <= 30; day++) made.add('burn', 10_000, end - day * DAY - 12 * HOUR)
  made.add('mint', 200_000, end - 10 * DAY)
  made.add('burn_blocked', 25_000, end - 6 * HOUR)
  made.add('burn', 15_000, end - 6 * HOUR)
  made.add('mint', 50_000, end - 6 * HOUR)
  return made
}

test('the example of the methodology is correct', async ({ app, clickhouse, clock }) => {
  const end = hourOf(clock)
  await example(end).write(clickhouse, end - 40 * DAY)
  const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
  const { windows, burn_surge, coverage } = answer
  expect(windows).toMatchObject([
    { window: '24h', minted_tokens: 50_000, burned_tokens: 40_000, supply_at_start_tokens: 900_000 },
    { window: '7d', minted_tokens: 50_000, burned_tokens: 100_000, supply_at_start_tokens: 960_000 },
    { window: '30d', minted_tokens: 250_000, burned_tokens: 330_000, supply_at_start_tokens: 990_000 },
  ])
  const net = windows.map((window: Record<string, number>) => [
    window.net_issuance_tokens,
    Number(window.net_issuance_pct?.toFixed(4)),
  ])
  expect(net).toEqual([
    [10_000, 1.1111],
    [-50_000, -5.2083],
    [-80_000, -8.0808],
  ])
  expect(windows[0]).toMatchObject({ net_issuance: '10000000000', mint_count: 1, burn_count: 2 })
  expect(burn_surge).toEqual({
    ratio: 4,
    baseline_days: 30,
    baseline_burned: '300000000000',
    baseline_daily_tokens: 10_000,
  })
  expect(coverage).toMatchObject({ status: 'complete', missing: [] })
})

test('the example with a hole: what is in it counts for nothing, its day is no baseline, and both are said', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  const made = example(end)
  // Around the burn of the day that ended nine days ago.
  const burn = made.blockAt(end - 9 * DAY - 12 * HOUR)
  await made.write(clickhouse, end - 40 * DAY, [burn - 1, burn + 2])
  const { windows, burn_surge, coverage } = (await app.inject(`${URL}?as_of=${end}`)).json()
  expect(windows).toMatchObject([
    { coverage: { status: 'complete' }, supply_at_start_tokens: 900_000 },
    { coverage: { status: 'complete' }, supply_at_start_tokens: 960_000 },
    { coverage: { status: 'partial' }, supply_at_start_tokens: 990_000, burned_tokens: 320_000 },
  ])
  expect(burn_surge).toMatchObject({ ratio: 4, baseline_days: 29, baseline_burned: '290000000000' })
  expect(coverage).toMatchObject({
    status: 'partial',
    missing: [{ from_block: burn - 1, to_block: burn + 1, reason: 'not_read' }],
  })
})

test('the largest mints and burns have who, where and when; of equal ones the newest come first', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  const made = chain(end, 40)
  made.add('mint', 9_000, end - 31 * DAY)
  made.add('mint', 8_000, end - 30 * DAY)
  for (let i = 0; i < 13; i++) made.add('mint', 100, end - 20 * DAY + Math.floor(i / 2) * HOUR, { account: account(i) })
  made.add('mint', 101, end - 29 * DAY, { account: FEE_MANAGER })
  made.add('burn', 3, end - HOUR)
  made.add('burn_blocked', 7, end - HOUR, { account: account(7) })
  made.add('cap', 10_000, end - HOUR)
  await made.write(clickhouse, end - 40 * DAY)
  const { largest_mints, largest_burns } = (await app.inject(`${URL}?as_of=${end}`)).json()
  expect(largest_mints[0]).toMatchObject({ account: FEE_MANAGER, label: 'Fee manager', amount: '101000000' })
  expect(largest_mints.slice(1).map((mint: { account: string }) => mint.account)).toEqual(
    [12, 11, 10, 9, 8, 7, 6, 5, 4].map(account),
  )
  expect(largest_burns).toEqual([
    {
      kind: 'burn_blocked',
      account: account(7),
      label: null,
      amount: '7000000',
      amount_tokens: 7,
      block_number: made.blockAt(end - HOUR),
      log_index: 17,
      block_timestamp: isoSeconds(new Date((end - HOUR) * 1000)),
      tx_hash: txHash(17),
    },
    expect.objectContaining({ kind: 'burn', amount: '3000000' }),
  ])
})

test('a stable that was made in a window is complete since then, and its supply before was 0', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  const made = chain(end, 40)
  const born = end - 3 * DAY
  made.add('mint', 500, born + HOUR)
  made.add('burn', 100, born + 2 * HOUR)
  made.add('burn', 50, end)
  await made.write(clickhouse, born)
  const { windows, burn_surge, coverage } = (await app.inject(`${URL}?as_of=${end}`)).json()
  expect(windows).toMatchObject([
    { net_issuance_tokens: -50, net_issuance_pct: -12.5, supply_at_start: '400000000', coverage: { missing: [] } },
    { net_issuance_tokens: 350, net_issuance_pct: null, supply_at_start: '0', supply_block_number: null },
    { net_issuance_tokens: 350, net_issuance_pct: null, supply_at_start: '0', coverage: { status: 'complete' } },
  ])
  // Two days are no baseline.
  expect(burn_surge).toMatchObject({ ratio: null, baseline_days: 2, baseline_burned: '100000000' })
  expect(coverage).toMatchObject({ status: 'complete', measured_from: isoSeconds(new Date(born * 1000)) })
  const before = await app.inject(`${URL}?as_of=${born - 1}`)
  expect(before.json()).toMatchObject({ status: 404, type: 'urn:plumbline:problem:before-history', parameter: 'as_of' })
})

test('a stable of the genesis block had a supply that no log has: what it was before is unknown, not 0', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  const made = chain(end, 5)
  made.add('mint', 500, end - 4 * DAY)
  await made.write(clickhouse, end - 5 * DAY, [0, 0], 0)
  const { windows, coverage } = (await app.inject(`${URL}?as_of=${end}`)).json()
  const unknown = { net_issuance_tokens: 500, net_issuance_pct: null, supply_at_start: null }
  expect(windows).toMatchObject([{ net_issuance_tokens: 0, supply_at_start: '500000000' }, unknown, unknown])
  expect(coverage).toMatchObject({ status: 'partial', message: expect.stringContaining('7d, 30d is not known') })
})

test('a stable without tokens has zeros and no shares; where nothing was measured there are no figures', async ({
  app,
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  await chain(end - 35 * DAY, 10).write(clickhouse, end - 45 * DAY)
  const at = async (time: number) => (await app.inject(`${URL}?as_of=${time}`)).json()
  const zero = { minted: '0', burned: '0', net_issuance: '0', net_issuance_pct: null, supply_at_start: '0' }
  const whole = await at(end - 35 * DAY)
  expect(whole.windows[0]).toMatchObject({ ...zero, coverage: { status: 'complete' } })
  expect(whole.burn_surge).toMatchObject({ ratio: null, baseline_days: 9, baseline_burned: '0' })
  // Ingest has stopped, and the chain has not.
  await insertChainHead(clickhouse, { tag: 'latest', block_number: 1_000_000, block_time: end })
  const nothing = await at(end)
  const none = { minted: null, burned_tokens: null, net_issuance: null, supply_at_start: null }
  expect(nothing.windows).toMatchObject([none, none, none])
  expect(nothing).toMatchObject({
    burn_surge: { ratio: null, baseline_days: 0, baseline_burned: null, baseline_daily_tokens: null },
    largest_mints: [],
    coverage: { status: 'unavailable' },
  })
})

test('all that a token can have is exact, and sums beyond 128 bits do not wrap', async ({ app, clickhouse, clock }) => {
  const end = hourOf(clock)
  const most = 2n ** 128n - 1n
  const made = chain(end, 40)
  made.add('mint', most, end - 2 * DAY)
  for (let i = 0; i < 3; i++) {
    made.add('burn', most, end - HOUR)
    made.add('mint', most, end - HOUR)
  }
  made.add('burn', 1n, end)
  await made.write(clickhouse, end - 40 * DAY)
  const { windows, largest_mints } = (await app.inject(`${URL}?as_of=${end}`)).json()
  expect(windows).toMatchObject([
    { minted: `${3n * most}`, burned: `${3n * most + 1n}`, net_issuance: '-1', minted_pct: 300 },
    { minted: `${4n * most}`, net_issuance: `${most - 1n}`, supply_at_start: '0' },
    { minted: `${4n * most}`, net_issuance_pct: null },
  ])
  expect(windows[0].supply_at_start).toBe(`${most}`)
  expect(largest_mints.map(({ amount }: { amount: string }) => amount)).toEqual(Array(4).fill(`${most}`))
})

test('a live answer ends now, and takes as many queries for one mint as for a thousand', async ({
  clickhouse,
  clock,
}) => {
  const end = hourOf(clock)
  const made = chain(end, 40)
  for (let i = 0; i < 1000; i++) made.add('mint', i + 1, end - 2 * HOUR)
  await made.write(clickhouse, end - 40 * DAY)
  const app = await cachedApp(clickhouse, { now: () => new Date(end * 1000 + 900) })
  const ask = async (url: string) => {
    const before = app.queries.length
    const answer = (await app.inject(url)).json()
    return { answer, queries: app.queries.slice(before).filter((name) => /issuance|suppl/.test(name)).length }
  }
  const live = await ask(URL)
  const empty = await ask(`${URL}?as_of=${end - DAY}`)
  expect(live.answer).toMatchObject({ as_of: null, windows_as_of: isoSeconds(new Date(end * 1000)) })
  expect(live.answer.windows[0].mint_count).toBe(1000)
  expect(empty.answer.windows[0].mint_count).toBe(0)
  expect([live.queries, empty.queries]).toEqual([3, 3])
})

const DAY_SECONDS = 86_400
const SEED = 18

type Answer = {
  windows: { minted: string | null; minted_pct: number | null; supply_at_start: string | null; coverage: object }[]
  burn_surge: { ratio: number | null; baseline_days: number }
  coverage: { status: string; message: string }
  largest_mints: { amount: string }[]
}

const without = (name: string, row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== name))

/** The names of the cases that an answer is one of. */
const casesOf = ({ windows, burn_surge, coverage, largest_mints }: Answer): string[] => [
  coverage.status,
  ...windows.map(({ minted, minted_pct, supply_at_start }) =>
    minted === null
      ? 'not measured'
      : supply_at_start === null
        ? 'unknown supply'
        : minted_pct === null
          ? 'no supply'
          : 'share',
  ),
  ...(burn_surge.ratio === null
    ? [burn_surge.baseline_days < 7 ? 'no baseline' : 'nothing burned']
    : [burn_surge.baseline_days < 30 ? 'part of a baseline' : 'whole baseline']),
  ...(largest_mints.length === 10 && new Set(largest_mints.map(({ amount }) => amount)).size < 10 ? ['equal'] : []),
]

test('mints and burns follow from the single events, for every stable at any instant of a history with holes', async ({
  app,
  clickhouse,
  clock,
}) => {
  const start = Math.floor(clock.now.getTime() / 1000) - 85 * DAY_SECONDS
  const { stables, times, stored, add } = randomIssuance(SEED, start)
  await add(clickhouse)
  const economy = await economyFacts(clickhouse)
  const [first, last] = [times[0] as number, times.at(-1) as number]
  const random = randomFor(SEED, 'instants')
  const seen = new Map<string, number>()
  for (let i = 0; i < 100; i++) {
    // Any second, or one in which a window of an event begins or ends.
    const event = random.pick(times) + random.pick([0, 1, 7, 30, 31]) * DAY_SECONDS - random.int(0, 1)
    const at = Math.max(first, Math.min(last, random.chance(0.5) ? random.int(first, last) : event))
    const stable = stables[i % stables.length] as string
    const created = economy.stablecoins.find((row) => row.stable === stable)
    if (created && created.at > at) continue
    const about = `${stable} at ${at}, ${iso(at)}`
    const response = await app.inject(`/api/v1/stablecoins/${stable}/issuance?as_of=${at}`)
    expect(response.statusCode, about).toBe(200)
    const answer = response.json()
    const expected = issuanceAt({ economy, stored }, stable, at)
    const { address, as_of, coverage, ...figures } = answer
    expect([address, as_of], about).toEqual([stable, iso(at)])
    const published = {
      ...figures,
      windows: figures.windows.map((window: Answer['windows'][number]) => ({
        ...window,
        coverage: without('message', window.coverage),
      })),
      largest_mints: figures.largest_mints.map((row: object) => without('label', row)),
      largest_burns: figures.largest_burns.map((row: object) => without('label', row)),
    }
    expectSame(published, expected, about)

    const since = { block_number: created?.block_number ?? 0, block_time: created?.at ?? 0 }
    const measured = coverageAt(
      stored,
      { families: ['logs'], stable, since, from: at - 31 * DAY_SECONDS + 1, to: at },
      100,
    )
    const isUnknown = expected.windows.some(({ supply_at_start }) => supply_at_start === null)
    expect(without('message', coverage), about).toEqual({
      ...measured,
      status: measured.status === 'complete' && isUnknown ? 'partial' : measured.status,
    })
    for (const name of casesOf(answer)) seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  // The history has all of them.
  expect([...seen.keys()].sort()).toEqual([
    'complete',
    'equal',
    'no baseline',
    'no supply',
    'not measured',
    'nothing burned',
    'part of a baseline',
    'partial',
    'share',
    'unknown supply',
    'whole baseline',
  ])
})
