import { expect } from 'vitest'
import { insertTokenList } from '../../../../clickhouse/chain/token-lists.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { snapshotReserves } from '../../../../jobs/snapshot/reserves.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { randomFor } from '../../../../local/chain/random.js'
import { test } from '../../../support/app.js'
import { account, feeDistribution, rewardDistribution } from '../../../support/economy-rows.js'
import { PEG_EVENTS_JOB } from '../../../support/peg-events.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  tokenList,
} from '../../../support/rows.js'
import { runPass, slotAt, slotsOf } from '../../../support/slots.js'
import { addMarket } from '../../../support/wild-market.js'

const LIST = '/api/v1/stablecoins'
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

type Entry = { address: string; symbol: string; open_break: object | null; risk_score: number | null; tracked: boolean }

test('figures of the list are those of the routes of each stable, at any instant', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const start = Math.floor(now / 300) * 300 - 26 * 3600
  const recent = start + 24 * 3600
  const random = randomFor(12, 'market', 1)
  // A little a day before, then two hours: what was a day ago leaves the last 24 hours on the way.
  const times = [
    ...Array.from({ length: 30 }, (_, i) => start + i * 120 + 7),
    ...Array.from({ length: 60 }, (_, i) => recent + i * 120 + 7),
  ]
  // The first leaves the bands for half an hour, the second wanders close to 1, the third is lost on the way.
  const prices = [
    times.map((_, i) => 1_000_000 - (i % 30 > 15 && i % 30 < 28 ? 2000 + 300 * (i % 30) : 100)),
    times.map(() => 1_000_000 + random.int(-900, 900)),
    times.map((_, i) => (i > 70 ? ('no_liquidity' as const) : 1_000_000 - (i === 9 ? 30_000 : 0))),
  ]
  await addMarket(
    clickhouse,
    prices.flatMap((ofStable, i) =>
      pegSamples(
        stableAddress(i + 1),
        times.map((at, block) => ({ at, price: ofStable[block] ?? 'failed' })),
      ),
    ),
    times,
  )
  await runPass(clickhouse, PEG_EVENTS_JOB, slotsOf(PEG_EVENTS_JOB, start, start + 3600))
  await runPass(clickhouse, PEG_EVENTS_JOB, slotsOf(PEG_EVENTS_JOB, recent, now - 120))
  const [middle, late] = [recent + 3000, recent + 6000]
  for (const at of [middle, late]) await snapshotRisk(clickhouse, slotAt('risk', at))

  let open = 0
  const instants = [middle, late, ...Array.from({ length: 8 }, () => random.int(recent, now - 600))]
  for (const at of instants) {
    const { stablecoins } = (await app.inject(`${LIST}?as_of=${at}`)).json() as { stablecoins: Entry[] }
    expect(stablecoins).toHaveLength(3)
    for (const { address, ...listed } of stablecoins) {
      const ask = async (what: string) => (await app.inject(`${LIST}/${address}/${what}as_of=${at}`)).json()
      const [{ windows }, { events }, risk] = [await ask('peg?'), await ask('peg-events?limit=50&'), await ask('risk?')]
      const ongoing = (events as { ongoing: boolean; severity: string; started_at: string; started_block: number }[])
        .filter(({ ongoing }) => ongoing)
        .toSorted((a, b) => (a.severity < b.severity ? 1 : -1))
        .map(({ severity, started_at, started_block }) => ({ severity, started_at, started_block }))
      const isScored = [middle, late].some((slot) => slot <= at && at < slot + 3600)
      expect(listed, `${address} at ${iso(at)}`).toMatchObject({
        max_deviation_24h_bps: windows[1].max_deviation_bps,
        open_break: ongoing[0] ?? null,
        risk_score: isScored ? risk.composite : null,
        risk_computed_at: isScored ? risk.computed_at : null,
      })
      if (listed.open_break) open++
      // One stable alone is read otherwise than all of them.
      const { max_deviation_24h_bps, open_break, risk_score, risk_computed_at } = (
        await app.inject(`${LIST}/${address}?as_of=${at}`)
      ).json()
      expect(listed).toMatchObject({ max_deviation_24h_bps, open_break, risk_score, risk_computed_at })
    }
  }
  expect(open).toBeGreaterThan(3)
})

test('filters and pages leave out nothing and repeat nothing', async ({ app, clickhouse }) => {
  const stables = [
    stablecoin(1, { symbol: 'b' }),
    stablecoin(2, { symbol: 'A' }),
    stablecoin(3, { symbol: 'A' }),
    stablecoin(4, { symbol: 'Ä', currency: 'EUR' }),
    stablecoin(5, { symbol: '' }),
  ]
  await addMarket(clickhouse, pegSamples(stableAddress(9), [{ at: 1_790_000_000, price: 1_000_000 }]), [1_790_000_000])
  await addFacts(clickhouse, { stablecoins: stables })
  await insertTokenList(clickhouse, {
    ...tokenList({ track: 'listed', stables: [stableAddress(2), stableAddress(4)] }),
    source: 'test',
  })
  const ask = async (query: string) => (await app.inject(`${LIST}?${query}`)).json()
  const all = (await ask('')).stablecoins as Entry[]
  expect(all).toHaveLength(6)
  for (const limit of [1, 2, 5, 6]) {
    const seen: Entry[] = []
    for (let query: string | null = `limit=${limit}`; query !== null; ) {
      const { stablecoins, next_cursor } = await ask(query)
      seen.push(...stablecoins)
      query = next_cursor && `limit=${limit}&cursor=${next_cursor}`
    }
    expect(seen.map(({ address }) => address)).toEqual(all.map(({ address }) => address))
  }
  const addresses = async (query: string) =>
    ((await ask(query)).stablecoins as Entry[]).map(({ address }) => address).sort()
  expect(await addresses('symbol=A')).toEqual([stableAddress(2), stableAddress(3)])
  expect(await addresses('currency=EUR')).toEqual([stableAddress(4)])
  expect(await addresses('tier=listed')).toEqual([stableAddress(2), stableAddress(4)])
  expect(await addresses('tracked=true')).toEqual([stableAddress(2), stableAddress(4)])
  expect(await addresses('tracked=false&symbol=A')).toEqual([stableAddress(3)])
  for (const bad of ['tracked=1', 'tier=none', 'limit=0', 'cursor=x'])
    expect((await app.inject(`${LIST}?${bad}`)).statusCode, bad).toBe(400)
})

const STABLE = stableAddress(1)
const DAY = 86_400

test('a measurement from long ago still holds', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const then = Math.floor((now - 100 * DAY) / DAY) * DAY
  const at = { block_number: 1, block_time: then - 60 }
  await addBlocks(clickhouse, [at.block_time, now - 10])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(STABLE, [{ at: at.block_time, price: 998_000 }]),
    states: [stateRead(STABLE, { supply_raw: '5000000', ...at })],
  })
  const depth = { sell_status: 'quoted' as const, sell_raw: '998000000', buy_status: 'quoted' as const, buy_raw: '1' }
  await insertFacts(clickhouse, 'depth_samples', [{ stable: STABLE, size_tokens: 1000, ...at, ...depth }], 'depth')
  await insertFacts(clickhouse, 'reward_distributions', [rewardDistribution(STABLE, account(1), 7, at)], 'rewards')
  await insertFacts(clickhouse, 'fee_distributions', [feeDistribution(STABLE, account(2), 3, at)], 'fees')
  await snapshotRisk(clickhouse, slotAt('risk', then))
  await snapshotReserves(clickhouse, slotAt('reserves', then))

  const ask = async (path: string) => (await app.inject(`/api/v1/${path}`)).json()
  const own = (what: string) => `stablecoins/${STABLE}${what}`
  for (const query of ['', `?as_of=${now - 5}`, '?as_of=40d']) {
    expect(await ask(own(`/peg${query}`))).toMatchObject({ current: { price_vs_refusd: 0.998, block_number: 1 } })
    expect(await ask(own(query))).toMatchObject({ supply: { current: '5000000' }, peg: { price: 0.998 } })
    expect(await ask(own(`/risk${query}`))).toMatchObject({ computed_at: new Date(then * 1000).toISOString() })
    expect(await ask(own(`/reserves${query}`))).toMatchObject({ reserves: [{ backing_usd: 4.99 }] })
    expect((await ask(own(`/depth${query}`))).sizes).toHaveLength(1)
    expect((await ask(own(`/rewards${query}`))).recent_distributions).toMatchObject([{ amount_tokens: 7 }])
    expect((await ask(`fee-economics/overview${query}`)).recent_distributions).toMatchObject([{ amount_tokens: 3 }])
    expect(await ask(`stablecoins${query}`)).toMatchObject({ stablecoins: [{ supply: { current: '5000000' } }] })
  }
})
