import { gzipSync } from 'node:zlib'
import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import type { PegSample } from '../../../../clickhouse/peg/samples.js'
import { randomFor } from '../../../../local/chain/random.js'
import { bucketStarts, pegBucket } from '../../../../oracle/series.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'

const SECONDS = { '1m': 60, '5m': 300, '1h': 3600, '1d': 86_400 } as const
const STEPS = Object.entries(SECONDS) as [keyof typeof SECONDS, number][]
const WHOLE = '/api/v1/stablecoins/peg/series'

const iso = (time: number): string => new Date(time * 1000).toISOString().replace('.000', '')
const url = (path: string, query: Record<string, string | number>): string =>
  `${path}?${new URLSearchParams(query as Record<string, string>)}`

/** Blocks of some days that end now: some share a second, some are minutes apart. */
function blockTimes(now: number, days: number): number[] {
  const random = randomFor(7, 'blocks', 1)
  const times: number[] = []
  for (let at = now - days * 86_400; at < now; at += random.int(0, 400)) times.push(at)
  return times
}

/** A price that leaves both bands and is sometimes missing. */
function market(times: readonly number[], stable: number): PegSample[] {
  const random = randomFor(7, 'prices', stable)
  return pegSamples(
    stableAddress(stable),
    times.map((at, i) => {
      const isDry = (i + 17 * stable) % 60 < 9
      return { at, price: isDry ? ('no_liquidity' as const) : 1_000_000 + random.int(-7_000, 7_000) }
    }),
  )
}

const bps = (price: number | null): number | null => (price === null ? null : Math.round((price - 1) * 1e6) / 100)

test('the columns of all stables follow from their samples, in any range and step', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now, 3)
  const markets = new Map([1, 2].map((stable) => [stableAddress(stable), market(times, stable)]))
  await addBlocks(clickhouse, times)
  // The third was never sampled.
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2), stablecoin(3)],
    samples: [...markets.values()].flat(),
  })
  const random = randomFor(8, 'ranges', 1)
  for (const [step, seconds] of STEPS) {
    for (let i = 0; i < 4; i++) {
      const from = now - random.int(0, Math.min(4 * 86_400, 1000 * seconds))
      const to = random.int(from, now)
      const starts = bucketStarts(seconds, from, to, Math.min(...times), Math.max(...times))
      const body = (await app.inject(url(WHOLE, { from, to, step }))).json()
      expect(body).toMatchObject({ step_seconds: seconds, bucket_count: starts.length })
      if (starts.length > 0)
        expect(body).toMatchObject({ from: iso(starts[0] as number), to: iso((starts.at(-1) as number) + seconds) })
      const expected = [...markets].map(([address, samples]) => {
        const buckets = starts.map((start) => pegBucket(samples, start, seconds))
        return {
          address,
          low_bps: buckets.map(({ low }) => bps(low)),
          high_bps: buckets.map(({ high }) => bps(high)),
          last_bps: buckets.map(({ close }) => bps(close)),
          unquoted_share: buckets.map(({ sample_count, unquoted_count }) => {
            const count = sample_count + unquoted_count
            return count === 0 ? null : Math.round((1e6 * unquoted_count) / count) / 1e6
          }),
        }
      })
      const isSampled = ({ unquoted_share }: { unquoted_share: unknown[] }) => unquoted_share.some((s) => s !== null)
      expect(body.stables.map(({ symbol: _, ...columns }: { symbol: string }) => columns)).toEqual(
        expected.filter(isSampled),
      )
    }
  }

  const named = await app.inject(url(WHOLE, { from: '1h', stables: `${stableAddress(3)},${stableAddress(1)}` }))
  const { stables, bucket_count } = named.json()
  expect(stables.map(({ address }: { address: string }) => address)).toEqual([stableAddress(1), stableAddress(3)])
  expect(stables[1].unquoted_share).toEqual(Array.from({ length: bucket_count }, () => null))
})

test('the windows of a series are those of /peg at the end of each bucket, digit for digit', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = blockTimes(now, 9)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)], samples: market(times, 1) })
  const random = randomFor(9, 'instants', 1)
  for (const [step, seconds] of STEPS) {
    const from = now - random.int(2, 3) * 86_400
    const to = Math.min(now, from + 500 * seconds)
    const series = (
      await app.inject(url(`/api/v1/stablecoins/${stableAddress(1)}/peg/windows/series`, { from, to, step }))
    ).json()
    expect(series.bucket_count).toBeGreaterThan(0)
    for (let i = 0; i < 8; i++) {
      const bucket = random.int(0, series.bucket_count - 1)
      const as_of = Date.parse(series.from) / 1000 + (bucket + 1) * seconds
      const { windows } = (await app.inject(`/api/v1/stablecoins/${stableAddress(1)}/peg?as_of=${as_of}`)).json()
      const instants = series.windows.map(({ window, ...columns }: Record<string, unknown[]>) => ({
        window,
        ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[bucket]])),
      }))
      expect(instants, `${step} at ${iso(as_of)}`).toEqual(windows)
    }
  }
})

test('the depth of a bucket is that of its newest sample, as /depth has it', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const start = Math.floor(now / 300) * 300 - 1500
  // The third bucket has no sample, the fourth no buyer.
  const times = [start + 10, start + 200, start + 450, start + 700, start + 1000, start + 1300, now - 1]
  const prices = [999_800, 1_000_200, 1_000_100, 1_000_050, 'no_liquidity', 1_000_000, 1_000_000] as const
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(
      stableAddress(1),
      times.map((at, i) => ({ at, price: prices[i] ?? 'failed' })),
    ),
  })
  const sample = (block: number, size_tokens: number) => ({
    stable: stableAddress(1),
    size_tokens,
    block_number: block,
    block_time: times[block - 1] as number,
    sell_status: block === 5 ? ('no_liquidity' as const) : ('quoted' as const),
    sell_raw: block === 5 ? null : `${size_tokens * 999_000 - block}`,
    buy_status: 'quoted' as const,
    buy_raw: `${size_tokens * 1_001_000 + block}`,
  })
  const rows = [1, 2, 3, 5].flatMap((block) => [1000, 10_000].map((size) => sample(block, size)))
  await insertFacts(clickhouse, 'depth_samples', rows, 'depth')
  const path = `/api/v1/stablecoins/${stableAddress(1)}/depth`
  const series = (await app.inject(url(`${path}/series`, { from: start, to: start + 1200 }))).json()
  expect(series).toMatchObject({ bucket_count: 4, step_seconds: 300 })
  expect(series.sizes.map(({ size_tokens }: { size_tokens: number }) => size_tokens)).toEqual([1000, 10_000])
  for (const [i, { is_sampled, sell_slippage_bps, buy_slippage_bps }] of series.sizes.entries()) {
    expect(is_sampled).toEqual([true, true, false, true])
    for (const bucket of [0, 1, 3]) {
      const depth = (await app.inject(`${path}?as_of=${start + (bucket + 1) * 300}`)).json().sizes[i]
      expect([sell_slippage_bps[bucket], buy_slippage_bps[bucket]]).toEqual([
        depth.sell.slippage_bps,
        depth.buy.slippage_bps,
      ])
    }
    expect([sell_slippage_bps[2], buy_slippage_bps[2], sell_slippage_bps[3]]).toEqual([null, null, null])
  }
})

test('a picture of fifty stables and a day is about 30 KB', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = Array.from({ length: 24 * 60 }, (_, i) => now - (24 * 60 - i) * 60)
  await addBlocks(clickhouse, times)
  const stables = Array.from({ length: 50 }, (_, i) => i + 1)
  // A price wanders by ticks of a tenth of a basis point, as an order book's does.
  const samples = stables.flatMap((stable) => {
    const random = randomFor(11, 'walk', stable)
    let tick = 0
    return pegSamples(
      stableAddress(stable),
      times.map((at) => {
        if (random.chance(0.2)) tick += random.int(-3, 3)
        return { at, price: 1_000_000 + 10 * tick }
      }),
    )
  })
  await addFacts(clickhouse, { stablecoins: stables.map((i) => stablecoin(i)), samples })
  const { body } = await app.inject(url(WHOLE, { from: '24h', to: now }))
  const { stables: columns, bucket_count } = JSON.parse(body)
  expect([columns.length, bucket_count]).toEqual([50, expect.toSatisfy((count: number) => count >= 286)])
  expect(gzipSync(body).length).toBeLessThan(35_000)
})

test('a range with too many buckets, or an unknown stable, is refused', async ({ app, clickhouse, clock }) => {
  await addBlocks(clickhouse, [Math.floor(clock.now.getTime() / 1000) - 10])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const refused = async (query: Record<string, string>) => {
    const response = await app.inject(url(WHOLE, query))
    const { type, detail, errors } = response.json()
    return { status: response.statusCode, text: `${type} ${detail} ${JSON.stringify(errors)}` }
  }
  expect(await refused({ from: '2d', step: '1m' })).toEqual({ status: 400, text: expect.stringContaining('step') })
  expect(await refused({ from: '1h', stables: stableAddress(9) })).toEqual({
    status: 404,
    text: expect.stringContaining(stableAddress(9)),
  })
  expect(await refused({ from: '1h', stables: '0x1' })).toEqual({
    status: 400,
    text: expect.stringContaining('stables'),
  })
})
