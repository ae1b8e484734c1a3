import { expect } from 'vitest'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import type { DexFill } from '../../../../clickhouse/flows/dex.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import { snapshotRisk } from '../../../../jobs/snapshot/risk.js'
import { randomFor } from '../../../../local/chain/random.js'
import { averagesAt } from '../../../../oracle/averages.js'
import { differences } from '../../../../tools/verify/answers/differences.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, txHash } from '../../../support/rows.js'
import { slotAt } from '../../../support/slots.js'

const urlOf = (stable: string, query = '') => `/api/v1/stablecoins/${stable}/peg/averages${query}`

const MAKER = stableAddress(0xaaa)

const fill = (place: { block_number: number; block_time: number }, changes: Partial<DexFill> = {}): DexFill => ({
  order_id: '1',
  maker: MAKER,
  taker: stableAddress(0xbbb),
  base: stableAddress(1),
  quote: REFERENCE_STABLE,
  is_bid: true,
  tick: 0,
  base_raw: '1000000',
  quote_raw: '1000000',
  is_partial: false,
  log_index: 0,
  tx_hash: txHash(place.block_number),
  ...place,
  ...changes,
})

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

test('both averages follow from samples and fills at random instants, in a market with gaps, dry books and dust', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = seconds(clock.now)
  const random = randomFor(18, 'averages', 1)
  // Some blocks share a second, some are minutes apart, and twice nothing is in for hours.
  const times: number[] = []
  for (let at = now - 9 * 86_400; at < now; at += random.chance(0.02) ? random.int(121, 9000) : random.int(0, 130))
    times.push(at)
  const places = times.map((block_time, i) => ({ block_number: i + 1, block_time }))
  const samplesOf = (stable: string, dry: number): PegSample[] =>
    pegSamples(
      stable,
      times.map((at) => ({ at, price: random.chance(dry) ? 'no_liquidity' : random.int(980_000, 1_020_000) })),
    )
  const samples = new Map([1, 2].map((i) => [stableAddress(i), samplesOf(stableAddress(i), 0.1)]))
  // The second is quoted in the first, which has no price in some blocks, and a few of its old fills are in the reference.
  const fills = places.flatMap((place, i) =>
    random.chance(0.5)
      ? []
      : Array.from({ length: random.int(1, 2) }, (_, log_index) => {
          const base = random.int(1, 2)
          const base_raw =
            BigInt(random.chance(0.1) ? random.int(1, 9) : random.int(1, 1e15)) * 10n ** BigInt(random.int(0, 12))
          return fill(place, {
            log_index,
            base: stableAddress(base),
            quote: base === 1 || i < 100 ? REFERENCE_STABLE : stableAddress(1),
            base_raw: `${base_raw}`,
            quote_raw: `${(base_raw * BigInt(random.int(98_000, 102_000))) / 100_000n}`,
            taker: random.chance(0.2) ? MAKER : stableAddress(0xbbb),
          })
        }),
  )
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1), stablecoin(2)], samples: [...samples.values()].flat() })
  await insertFacts(clickhouse, 'dex_fills', fills, 'fills')

  const prices = new Map(
    [...samples.values()].flat().map((row) => [`${row.stable} ${row.block_number}`, row.sell_micros]),
  )
  const priceOf = (token: string, block: number) => prices.get(`${token} ${block}`) ?? null
  let unvalued = 0
  for (let i = 0; i < 40; i++) {
    const stable = stableAddress(random.int(1, 2))
    const at = random.chance(0.3) ? random.pick(times) : random.int(times[0] as number, now)
    const own = fills.filter(({ base }) => base === stable)
    const expected = averagesAt(samples.get(stable) ?? [], own, priceOf, at)
    const response = await app.inject(urlOf(stable, `?as_of=${at}`))
    expect([at, response.statusCode, differences(response.json().windows, expected)]).toEqual([at, 200, []])
    unvalued += expected[2]?.unvalued_trade_count ?? 0
  }
  expect(unvalued).toBeGreaterThan(0)
})

test('the worked example of the methodology gives the documented result', async ({ app, clickhouse, clock }) => {
  const end = Math.floor(seconds(clock.now) / 60) * 60
  const ago = [3610, 3570, 3540, 3240, 60]
  const times = ago.map((age) => end - age)
  await addBlocks(clickhouse, times)
  const prices = [0.999, 0.998, 'no_liquidity', 1.001, 1] as const
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: times[0] as number })],
    samples: pegSamples(
      stableAddress(1),
      times.map((at, i) => {
        const price = prices[i] as (typeof prices)[number]
        return { at, price: typeof price === 'number' ? Math.round(price * 1e6) : price }
      }),
    ),
  })
  const at = (index: number) => ({ block_number: index + 1, block_time: times[index] as number })
  await insertFacts(
    clickhouse,
    'dex_fills',
    [
      fill(at(3), { base_raw: '1000000000', quote_raw: '1001000000' }),
      fill(at(4), { base_raw: '3000000000', quote_raw: '2997000000' }),
      fill(at(4), { log_index: 1, base_raw: '5000000000', quote_raw: '5000000000', taker: MAKER }),
    ],
    'fills',
  )
  const { windows, windows_as_of } = (await app.inject(urlOf(stableAddress(1), `?as_of=${end}`))).json()
  expect(windows_as_of).toBe(new Date(end * 1000).toISOString().replace('.000', ''))
  expect(windows[0]).toEqual({
    window: '1h',
    twap: 1.000125,
    stddev: 0.00105327,
    rms_bps: 10.6066,
    unquoted_share: 0.333333,
    quoted_seconds: 240,
    unquoted_seconds: 120,
    unmeasured_seconds: 3240,
    vwap: 0.9995,
    trade_count: 2,
    unvalued_trade_count: 0,
    volume_tokens: 4000,
    volume_usd: '3998.000000',
  })
})

test('the same path of prices has the same averages and the same risk, however fast its blocks come', async ({
  app,
  clickhouse,
  clock,
}) => {
  const mark = Math.floor(seconds(clock.now) / 300) * 300
  const start = mark - 3600
  const random = randomFor(38, 'pace')
  // The price changes every minute at most; blocks come by the second, every twenty, or faster after the first half.
  const steps = Array.from({ length: 60 }, () =>
    random.chance(0.1) ? ('no_liquidity' as const) : random.int(999_000, 1_001_000),
  )
  // What a thousand tokens sell for changes every five minutes at most; it is sampled every minute, or every five.
  const sold = Array.from({ length: 12 }, () => random.int(998_000, 1_000_500) * 1000)
  const paces: { block: (at: number) => number; depth: number }[] = [
    { block: () => 1, depth: 60 },
    { block: () => 20, depth: 60 },
    { block: (at) => (at < start + 1800 ? 60 : 2), depth: 300 },
  ]
  const times = Array.from({ length: 3602 }, (_, i) => start + i)
  const isTaken = (at: number, every: number) => (at - start) % every === 0 && at <= mark
  const samples = paces.flatMap(({ block }, i) =>
    pegSamples(
      stableAddress(i + 1),
      times.flatMap((at) =>
        isTaken(at, block(at)) ? [{ at, price: steps[Math.floor((at - start) / 60)] ?? 1_000_000 }] : [],
      ),
    ),
  )
  const depths = paces.flatMap(({ depth }, i) =>
    times.flatMap((at, block): DepthSample[] =>
      isTaken(at, depth)
        ? [
            {
              stable: stableAddress(i + 1),
              size_tokens: 1000,
              block_number: block + 1,
              block_time: at,
              sell_status: 'quoted',
              sell_raw: `${sold[Math.floor((at - start) / 300)] ?? 1_000_000_000}`,
              buy_status: 'no_liquidity',
              buy_raw: null,
            },
          ]
        : [],
    ),
  )
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: paces.map((_, i) => stablecoin(i + 1, { block_time: start })),
    samples,
    depths,
  })
  await snapshotRisk(clickhouse, slotAt('risk', mark))
  const [first, ...others] = await Promise.all(
    paces.map(async (_, i) => {
      const [hour] = (await app.inject(urlOf(stableAddress(i + 1), `?as_of=${mark}`))).json().windows
      const risk = await app.inject(`/api/v1/stablecoins/${stableAddress(i + 1)}/risk?as_of=${mark}`)
      const { components, inputs, extended } = risk.json()
      const { quoted_count_24h: _quoted, unquoted_count_24h: _unquoted, ...spread } = inputs
      return { hour, components, spread, extended }
    }),
  )
  expect(first?.hour.unmeasured_seconds).toBe(0)
  expect(first?.hour.rms_bps).toBeGreaterThan(1)
  expect(first?.hour.unquoted_seconds).toBeGreaterThan(0)
  expect(first?.spread).toMatchObject({
    unquoted_share_24h: expect.closeTo(first?.hour.unquoted_share, 5),
    stddev_bps_24h: expect.closeTo(1e4 * first?.hour.stddev, 8),
  })
  // The worst five minutes of the hour are all of its worst 2.5 %.
  const shortfall = (1e9 - Math.min(...sold)) / 1e5
  expect(JSON.stringify(first?.extended)).toContain(`{"name":"shortfall_bps_24h","value":${shortfall}}`)
  for (const other of others) expect(other).toEqual(first)
})

test('without a price or a trade there is no average, and the seconds say why', async ({ app, clickhouse, clock }) => {
  const now = seconds(clock.now)
  const times = Array.from({ length: 100 }, (_, i) => now - (100 - i) * 60)
  await addBlocks(clickhouse, times)
  const reference = { stable: REFERENCE_STABLE, quote_token: '', block_time: times[0] as number }
  await addFacts(clickhouse, {
    stablecoins: [1, 2].map((i) => stablecoin(i, { block_time: times[0] as number })).concat(stablecoin(3, reference)),
    samples: [
      ...pegSamples(
        stableAddress(1),
        times.map((at) => ({ at, price: 'no_pair' as const })),
      ),
      ...pegSamples(
        REFERENCE_STABLE,
        times.map((at) => ({ at, price: 'anchor' as const })),
      ),
    ],
  })
  const hourOf = async (stable: string) => {
    const { windows, coverage } = (await app.inject(urlOf(stable))).json()
    const { window: _, ...figures } = windows[0]
    return { ...figures, status: coverage.status }
  }
  const untraded = { vwap: null, trade_count: 0, unvalued_trade_count: 0, volume_tokens: 0, volume_usd: '0.000000' }
  const held = (quoted: number, unquoted: number, unmeasured: number) => ({
    quoted_seconds: quoted,
    unquoted_seconds: unquoted,
    unmeasured_seconds: unmeasured,
  })
  const unpriced = { twap: null, stddev: null, rms_bps: null }
  expect(await hourOf(stableAddress(1))).toEqual({
    ...untraded,
    ...unpriced,
    unquoted_share: 1,
    ...held(0, 3600, 0),
    status: 'unavailable',
  })
  expect(await hourOf(stableAddress(2))).toEqual({
    ...untraded,
    ...unpriced,
    unquoted_share: null,
    ...held(0, 0, 3600),
    status: 'unavailable',
  })
  expect(await hourOf(REFERENCE_STABLE)).toEqual({
    ...untraded,
    ...{ twap: 1, stddev: 0, rms_bps: 0, unquoted_share: 0 },
    ...held(3600, 0, 0),
    status: 'complete',
  })
})
