import type { ClickHouseClient } from '@clickhouse/client'
import { describe, expect } from 'vitest'
import { FAMILIES } from '../../../../clickhouse/chain/batches.js'
import { removeFacts } from '../../../../clickhouse/facts/replace.js'
import { newestSnapshot } from '../../../../clickhouse/holders/balances.js'
import { HOLDER_WINDOWS, type HolderWindow } from '../../../../clickhouse/holders/figures.js'
import { TIP20_CHANNEL_RESERVE, type Transfer, ZONE_PORTAL_PREFIX } from '../../../../clickhouse/holders/transfers.js'
import { snapshotHolders } from '../../../../jobs/snapshot/holders.js'
import { randomFor } from '../../../../local/chain/random.js'
import { holdersAt } from '../../../../oracle/holders.js'
import { iso } from '../../../../oracle/rows.js'
import { test } from '../../../support/app.js'
import { account, addRows } from '../../../support/economy-rows.js'
import { addBatch, addRollback } from '../../../support/ledger.js'
import { expectSame } from '../../../support/oracle/same.js'
import { randomTransfers, WHOLE, WITH_HOLES } from '../../../support/random-transfers.js'
import { addBareBlocks, addBlocks, stableAddress, stablecoin, stateRead, transfer } from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const STABLE = stableAddress(1)
const URL = `/api/v1/stablecoins/${STABLE}/holders`
const ZERO = `0x${'0'.repeat(40)}`
const FEE_MANAGER = '0xfeec000000000000000000000000000000000000'
const GUARD = '0xb10c000000000000000000000000000000000000'
const PORTAL = `${ZONE_PORTAL_PREFIX}${'0'.repeat(15)}7`
const VIRTUAL = `0x58e21090${'fd'.repeat(10)}010203040506`
const HOUR = 3600
const DAY = 24 * HOUR
const [A, B, C, D] = [1, 2, 3, 4].map(account) as [string, string, string, string]
const WITHOUT_TRANSFERS = FAMILIES.filter((family) => family !== 'transfers')

const hourOf = (clock: { now: Date }): number => Math.floor(clock.now.getTime() / 1000 / HOUR) * HOUR

/** Blocks an hour apart that end at `end`, and transfers in them; amounts in whole tokens, unless they are big. */
function chain(end: number, days = 3) {
  const times = Array.from({ length: days * 24 + 1 }, (_, i) => end - (days * 24 - i) * HOUR)
  const blockAt = (time: number): number => times.indexOf(time) + 1
  const transfers: Transfer[] = []
  const send = (time: number, sender: string, recipient: string, tokens: number | bigint, kind?: Transfer['kind']) => {
    transfers.push(
      transfer(STABLE, {
        kind: kind ?? (sender === ZERO ? 'mint' : recipient === ZERO ? 'burn' : 'transfer'),
        sender,
        recipient,
        amount_raw: typeof tokens === 'bigint' ? `${tokens}` : `${tokens * 1e6}`,
        block_number: blockAt(time),
        block_time: time,
        log_index: transfers.length,
      }),
    )
  }
  /** Writes the stable, made with the first block, and the transfers, without those of the blocks [from, to). */
  const write = (clickhouse: ClickHouseClient, hole: [number, number] = [0, 0]): Promise<void> =>
    addRows(clickhouse, {
      stablecoins: [stablecoin(1, { block_number: 1, block_time: times[0] as number })],
      transfers: transfers.filter(({ block_number }) => block_number < hole[0] || block_number >= hole[1]),
    })
  return { times, blockAt, send, write }
}

/** The history of the example in the methodology. */
function example(end: number) {
  const made = chain(end)
  made.send(end - 2 * DAY, ZERO, A, 600)
  made.send(end - 2 * DAY, ZERO, B, 300)
  made.send(end - 2 * DAY, ZERO, C, 100)
  made.send(end - 6 * HOUR, A, D, 200)
  made.send(end - 5 * HOUR, C, A, 100)
  return made
}

const UNKNOWN = { holder_count: null, supply: null, hhi: null, gini: null, top_10_pct: null, activity: null }

test('the example of the methodology is correct', async ({ app, clickhouse, clock }) => {
  const end = hourOf(clock)
  const made = example(end)
  await made.write(clickhouse)
  await addBlocks(clickhouse, made.times)
  const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
  expect(answer).toMatchObject({
    address: STABLE,
    holder_count: 3,
    supply: '1000000000',
    supply_tokens: 1000,
    hhi: 3800,
    gini: 0.2,
    top_10_pct: 100,
    top_100_pct: 100,
    without_contracts: { holder_count: 3, supply: '1000000000', hhi: 3800, gini: 0.2 },
    coverage: { status: 'complete', missing: [] },
  })
  expect(answer.top_holders).toEqual([
    { rank: 1, address: A, label: null, balance: '500000000', balance_tokens: 500, share_pct: 50 },
    { rank: 2, address: B, label: null, balance: '300000000', balance_tokens: 300, share_pct: 30 },
    { rank: 3, address: D, label: null, balance: '200000000', balance_tokens: 200, share_pct: 20 },
  ])
  expect(answer.activity).toEqual({
    window: '24h',
    transfer_count: 2,
    transferred: '300000000',
    transferred_tokens: 300,
    velocity: 0.3,
    velocity_a_year: 109.5,
    turnover_pct: 20,
    new_holders: 1,
    leaving_holders: 1,
  })
  // Before anything was sent.
  const before = (await app.inject(`${URL}?as_of=${end - 6 * HOUR - 1}&limit=1`)).json()
  expect(before).toMatchObject({ holder_count: 3, hhi: 4600, activity: { transfer_count: 0, velocity: 0 } })
  expect(before.top_holders).toMatchObject([{ address: A, share_pct: 60 }])
  // Live is the same as the newest instant.
  const live = (await app.inject(URL)).json()
  expect({ ...live, as_of: null, coverage: null }).toEqual({ ...answer, as_of: null, coverage: null })
})

describe('at the edges', () => {
  test('a stable that nobody holds, one holder, and a holder of all that a token can have', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    const made = chain(end)
    const most = 2n ** 128n - 1n
    made.send(end - 30 * HOUR, ZERO, A, most)
    made.send(end - 20 * HOUR, A, B, most - 1n)
    made.send(end - 20 * HOUR, B, A, most - 1n)
    made.send(end - 10 * HOUR, A, ZERO, most)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    const at = async (time: number) => (await app.inject(`${URL}?as_of=${time}`)).json()
    expect(await at(end - 31 * HOUR)).toMatchObject({
      holder_count: 0,
      supply: '0',
      hhi: null,
      gini: null,
      top_10_pct: null,
      top_100_pct: null,
      top_holders: [],
      activity: { transfer_count: 0, velocity: null, turnover_pct: null, new_holders: 0 },
      coverage: { status: 'complete' },
    })
    expect(await at(end - 20 * HOUR)).toMatchObject({
      holder_count: 1,
      supply: `${most}`,
      hhi: 10_000,
      gini: 0,
      top_10_pct: 100,
      top_holders: [{ address: A, balance: `${most}` }],
      // More than 128 bits were transferred.
      activity: { transferred: `${2n * (most - 1n)}`, turnover_pct: 0, new_holders: 1 },
    })
    expect(await at(end)).toMatchObject({ holder_count: 0, supply: '0', activity: { leaving_holders: 1 } })
  })

  test('virtual addresses, fees, held transfers and burns from blocked accounts count where the tokens are', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    const made = chain(end)
    made.send(end - 2 * DAY, ZERO, A, 1000)
    made.send(end - 6 * HOUR, A, VIRTUAL, 100)
    made.send(end - 6 * HOUR, VIRTUAL, B, 100, 'forward')
    made.send(end - 5 * HOUR, A, FEE_MANAGER, 1, 'fee')
    made.send(end - 4 * HOUR, A, GUARD, 50, 'custody')
    made.send(end - 3 * HOUR, B, ZERO, 40)
    made.send(end - 2 * HOUR, A, A, 500)
    made.send(end - 2 * HOUR, A, PORTAL, 99)
    for (const i of [5, 6, 7]) made.send(end - 2 * HOUR, A, account(i), 999_999n)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(
      answer.top_holders.map((row: Record<string, unknown>) => [row.address, row.balance_tokens, row.label]),
    ).toEqual([
      [A, 747.000003, null],
      [PORTAL, 99, null],
      [B, 60, null],
      [GUARD, 50, 'Receive policy guard'],
      [FEE_MANAGER, 1, 'Fee manager'],
      ...[5, 6, 7].map((i) => [account(i), 0.999999, null]),
    ])
    expect(answer).toMatchObject({ supply_tokens: 960, holder_count: 8, activity: { transfer_count: 5 } })
    // Those that hold for others do not count here, nor does dust.
    const [a, b] = [747.000003, 60].map((tokens) => tokens / 807.000003) as [number, number]
    expect(answer.without_contracts).toMatchObject({
      holder_count: 2,
      supply_tokens: 807.000003,
      hhi: expect.closeTo(1e4 * (a * a + b * b), 8),
      gini: expect.closeTo((a - b) / 2, 12),
    })
  })

  test('a payment channel moves what its payee gets, once: deposits and refunds are no transfers between people', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    const made = chain(end)
    made.send(end - 2 * DAY, ZERO, A, 1000)
    // Of a deposit of 400, the payee gets 30; 200 of another stay in its channel.
    made.send(end - 6 * HOUR, A, TIP20_CHANNEL_RESERVE, 400, 'custody')
    made.send(end - 5 * HOUR, TIP20_CHANNEL_RESERVE, B, 30, 'custody')
    made.send(end - 5 * HOUR, TIP20_CHANNEL_RESERVE, A, 370, 'custody')
    made.send(end - 4 * HOUR, A, TIP20_CHANNEL_RESERVE, 200, 'custody')
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    expect((await app.inject(`${URL}?as_of=${end}`)).json()).toMatchObject({
      supply_tokens: 1000,
      activity: { transfer_count: 0, transferred: '0', velocity: 0, turnover_pct: 3 },
    })
  })

  test('before the stable was made is a 404, and a bad parameter a 400', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    await made.write(clickhouse)
    await addBlocks(clickhouse, [(made.times[0] as number) - HOUR, ...made.times], 0)
    expect((await app.inject(`${URL}?as_of=${(made.times[0] as number) - 1}`)).json()).toMatchObject({ status: 404 })
    for (const query of ['limit=0', 'limit=101', 'window=1h'])
      expect((await app.inject(`${URL}?${query}`)).statusCode).toBe(400)
  })
})

describe('what is not known is not published', () => {
  test('without TRACK_HOLDERS', async ({ app, clickhouse, clock }) => {
    const made = chain(hourOf(clock))
    await made.write(clickhouse)
    await addBareBlocks(clickhouse, made.times)
    await addBatch(clickhouse, 'tip', 1, { from_block: 1, to_block: made.times.length, families: WITHOUT_TRANSFERS })
    const answer = (await app.inject(URL)).json()
    expect(answer).toMatchObject({ ...UNKNOWN, top_holders: [], coverage: { status: 'unavailable' } })
    expect(answer.coverage.missing).toMatchObject([{ from_block: null, to_block: null, reason: 'not_read' }])
  })

  test('after a hole, but before it', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    const hole: [number, number] = [made.blockAt(end - 6 * HOUR), made.blockAt(end - 5 * HOUR)]
    await made.write(clickhouse, hole)
    await addBareBlocks(clickhouse, made.times)
    const last = made.times.length
    await addBatch(clickhouse, 'tip', 1, { from_block: 1, to_block: hole[0] - 1 })
    await addBatch(clickhouse, 'tip', 2, { from_block: hole[0], to_block: hole[1] - 1, families: WITHOUT_TRANSFERS })
    await addBatch(clickhouse, 'tip', 3, { from_block: hole[1], to_block: last })
    const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(answer).toMatchObject({ ...UNKNOWN, coverage: { status: 'unavailable' } })
    expect(answer.coverage.missing).toMatchObject([{ from_block: hole[0], to_block: hole[1] - 1, reason: 'not_read' }])
    // In the second of the last block before the hole, another may be missing.
    const before = (await app.inject(`${URL}?as_of=${end - 7 * HOUR - 1}`)).json()
    expect(before).toMatchObject({ holder_count: 3, hhi: 4600, coverage: { status: 'complete' } })
    // A backfill closes it.
    await addRows(clickhouse, {
      transfers: [
        transfer(STABLE, {
          sender: A,
          recipient: D,
          amount_raw: '200000000',
          block_number: hole[0],
          block_time: end - 6 * HOUR,
        }),
      ],
    })
    const closed = { from_block: hole[0], to_block: hole[1] - 1, families: ['transfers'] as const }
    await addBatch(clickhouse, 'backfill', 1, closed)
    clock.now = new Date(clock.now.getTime() + 2000)
    await expect
      .poll(async () => (await app.inject(`${URL}?as_of=${end}`)).json())
      .toMatchObject({ holder_count: 3, hhi: 3800, gini: 0.2, coverage: { status: 'complete' } })
  })

  test('blocks that are still to be read are missing at the end, and the figures are those before them', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    const made = example(end - DAY)
    await made.write(clickhouse)
    await addBareBlocks(clickhouse, made.times)
    await addBatch(clickhouse, 'tip', 1, { from_block: 1, to_block: made.times.length })
    const answer = (await app.inject(URL)).json()
    expect(answer).toMatchObject({ holder_count: 3, hhi: 3800, coverage: { status: 'partial', missing_count: 1 } })
    expect(answer.coverage.missing).toMatchObject([{ to_block: null, reason: 'not_read' }])
  })

  test('of a genesis stable whose first supply no transfer explains', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    const genesis = stablecoin(1, { block_number: 0, block_time: (made.times[0] as number) - 60 })
    const minted = made.times.indexOf(end - 2 * DAY)
    await made.write(clickhouse)
    await clickhouse.command({ query: 'TRUNCATE TABLE stablecoins' })
    const states = (supply_raw: string) => [
      stateRead(STABLE, { supply_raw, block_number: minted + 1, block_time: end - 2 * DAY }),
    ]
    await addRows(clickhouse, { stablecoins: [genesis] })
    await addBlocks(clickhouse, made.times)
    const ask = async () => (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(await ask()).toMatchObject({ ...UNKNOWN, coverage: { status: 'unavailable', missing: [] } })
    await addRows(clickhouse, { state_reads: states('1000000001') })
    expect((await ask()).coverage.message).toContain('had a supply before its first transfer')
    await clickhouse.command({ query: 'TRUNCATE TABLE state_reads' })
    await addRows(clickhouse, { state_reads: states('1000000000') })
    expect(await ask()).toMatchObject({ holder_count: 3, hhi: 3800, coverage: { status: 'complete' } })
  })

  test('if a transfer that must have been is not there', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    // B never had so much.
    made.send(end - HOUR, B, A, 301)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(answer).toMatchObject({ ...UNKNOWN, coverage: { status: 'unavailable' } })
    expect(answer.coverage.message).toContain('do not add up')
  })
})

describe('snapshots of balances', () => {
  const slot = (at: number, revision = 0) => slotAt('holders', at, revision)
  const always = () => true
  const snapshotAt = (clickhouse: ClickHouseClient, at: number) =>
    newestSnapshot(clickhouse, { stable: STABLE, at: new Date(at * 1000) })

  test('are made when enough was transferred, once a slot, and change no answer', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const end = hourOf(clock)
    const made = example(end)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    const ask = async (at: number) => (await app.inject(`${URL}?as_of=${at}`)).json()
    const instants = [end - 2 * DAY, end - 6 * HOUR, end - 5 * HOUR, end - HOUR, end]
    const before = await Promise.all(instants.map(ask))
    // Five transfers are not enough.
    expect(await snapshotHolders(clickhouse, slot(end - 2 * DAY))).toBe(0)
    expect(await snapshotAt(clickhouse, end)).toBeNull()
    expect(await snapshotHolders(clickhouse, slot(end - 2 * DAY), undefined, always)).toBe(3)
    expect(await snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, always)).toBe(3)
    const isNew = (transfers: number) => transfers > 0
    expect(await snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, isNew)).toBe(0)
    expect(await snapshotAt(clickhouse, end)).toMatchObject({
      slot_at: end - 5 * HOUR,
      holder_count: 3,
      supply: '1000000000',
    })
    expect(await Promise.all(instants.map(ask))).toEqual(before)
  })

  test('of a stable with a hole are not made', async ({ clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    await made.write(clickhouse)
    await addBareBlocks(clickhouse, made.times)
    await addBatch(clickhouse, 'tip', 1, { from_block: 1, to_block: 10 })
    await addBatch(clickhouse, 'tip', 2, { from_block: 12, to_block: made.times.length })
    expect(await snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, always)).toBe(0)
  })

  test('that a crash has left half-done are not read', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    // Balances, but no row that names them.
    const rows = { stable: STABLE, slot_at: end - 5 * HOUR, snapshot_id: '7', balance_raw: '999' }
    await clickhouse.command({
      query: `INSERT INTO holder_balances (stable, slot_at, snapshot_id, balance_raw, holder)
              VALUES ({stable: String}, {slot_at: UInt32}, {snapshot_id: UInt64}, {balance_raw: UInt128}, unhex('${'ab'.repeat(20)}'))`,
      query_params: rows,
    })
    expect((await app.inject(`${URL}?as_of=${end}`)).json()).toMatchObject({ holder_count: 3, hhi: 3800 })
    expect(await snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, always)).toBe(3)
    expect((await app.inject(`${URL}?as_of=${end}`)).json()).toMatchObject({ holder_count: 3, hhi: 3800 })
  })

  test('of blocks that a reorganization has removed no longer count', async ({ app, clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    await snapshotHolders(clickhouse, slot(end - 2 * DAY), undefined, always)
    await snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, always)
    const kept = end - 6 * HOUR
    await addRollback(clickhouse, 1, kept)
    await removeFacts(clickhouse, { from_block: made.blockAt(kept) + 1, from_time: kept })
    // The other chain sends less from C.
    await addBareBlocks(
      clickhouse,
      made.times.filter((time) => time > kept),
      made.blockAt(kept) + 1,
    )
    await addRows(clickhouse, {
      transfers: [
        transfer(STABLE, {
          sender: C,
          recipient: A,
          amount_raw: '50000000',
          block_number: made.blockAt(kept) + 1,
          block_time: kept + HOUR,
        }),
      ],
    })
    expect(await snapshotAt(clickhouse, end)).toMatchObject({ slot_at: end - 2 * DAY })
    const answer = (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(answer).toMatchObject({ holder_count: 4, supply_tokens: 1000 })
    expect(await snapshotHolders(clickhouse, slot(end - 5 * HOUR, 1), undefined, always)).toBe(4)
    const again = (await app.inject(`${URL}?as_of=${end}`)).json()
    expect(again).toEqual(answer)
  })

  test('whose balances are wrong are not made', async ({ clickhouse, clock }) => {
    const end = hourOf(clock)
    const made = example(end)
    made.send(end - 5 * HOUR, B, A, 301)
    await made.write(clickhouse)
    await addBlocks(clickhouse, made.times)
    await expect(snapshotHolders(clickhouse, slot(end - 5 * HOUR), undefined, always)).rejects.toThrow(
      'the balances of',
    )
    expect(await snapshotAt(clickhouse, end)).toBeNull()
  })
})

const DAY_SECONDS = 86_400
const SEED = 44

type Answer = {
  holder_count: number | null
  top_holders: { balance: string }[]
  activity: { new_holders: number; leaving_holders: number; velocity: number | null } | null
  coverage: { status: string }
}

/** The names of the cases that an answer is one of. */
const casesOf = ({ holder_count, activity, top_holders, coverage }: Answer): string[] => [
  coverage.status,
  holder_count === null ? 'unknown' : holder_count > 1 ? 'many' : holder_count === 1 ? 'one' : 'none',
  ...(holder_count !== null && holder_count > 100 ? ['over a hundred'] : []),
  ...(activity && activity.new_holders > 0 ? ['new'] : []),
  ...(activity && activity.leaving_holders > 0 ? ['leaving'] : []),
  ...(activity?.velocity === null ? ['no supply'] : []),
  ...(new Set(top_holders.map(({ balance }) => balance)).size < top_holders.length ? ['equal'] : []),
]

describe.each([
  ['whole, with snapshots', WHOLE, true, ['complete', 'equal', 'leaving', 'many', 'new', 'no supply', 'none', 'one']],
  ['whole, without snapshots', WHOLE, false, ['complete', 'equal', 'leaving', 'many', 'new', 'no supply', 'none']],
  ['with holes, and snapshots', WITH_HOLES, true, ['complete', 'leaving', 'many', 'new', 'unknown']],
] as const)('of a history that is %s', (name, stretches, hasSnapshots, wanted) => {
  test('holders follow from the single transfers, for every stable at any instant', async ({
    app,
    clickhouse,
    clock,
  }) => {
    const start = Math.floor(clock.now.getTime() / 1000) - 50 * DAY_SECONDS
    const { stables, times, factsOf, add } = randomTransfers(SEED, start, stretches)
    await add(clickhouse)
    const [first, last] = [times[0] as number, times.at(-1) as number]
    const random = randomFor(SEED, name)
    if (hasSnapshots) {
      // Each ends an hour with a block. In any order, as slots that are done again come after later ones.
      const slots = Array.from({ length: 12 }, () => Math.ceil(random.pick(times) / HOUR) * HOUR)
      let rows = 0
      for (const slot of slots)
        rows += await snapshotHolders(clickhouse, slotAt('holders', slot), undefined, () => true)
      expect(rows).toBeGreaterThan(0)
    }
    const seen = new Set<string>()
    for (let i = 0; i < 80; i++) {
      const edge = random.pick(times) + random.pick([0, 1, 7, 30]) * DAY_SECONDS - random.int(0, 1)
      const at = Math.max(first, Math.min(last, random.chance(0.5) ? random.int(first, last) : edge))
      const stable = stables[i % stables.length] as string
      const facts = factsOf(stable)
      if ((facts.created?.block_time ?? 0) > at) continue
      const window = random.pick(Object.keys(HOLDER_WINDOWS)) as HolderWindow
      const limit = random.int(1, 100)
      const about = `${stable} at ${at}, ${iso(at)}, ${window}`
      const query = { as_of: `${at}`, window, limit: `${limit}` }
      const response = await app.inject({ url: `/api/v1/stablecoins/${stable}/holders`, query })
      expect(response.statusCode, about).toBe(200)
      const answer = response.json()
      const { address, as_of, coverage, ...figures } = answer
      expect([address, as_of], about).toEqual([stable, iso(at)])
      const published = {
        ...figures,
        top_holders: figures.top_holders.map(({ label, ...holder }: { label: string | null }) => holder),
      }
      expectSame(published, holdersAt(facts, { stable, at, window, limit }), about)
      expect(coverage.status === 'unavailable', about).toBe(figures.holder_count === null)
      for (const one of casesOf(answer)) seen.add(one)
    }
    expect([...seen]).toEqual(expect.arrayContaining([...wanted]))
  })
})
