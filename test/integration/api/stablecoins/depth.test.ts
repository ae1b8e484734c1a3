import { expect } from 'vitest'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const DEPTH = `/api/v1/stablecoins/${stableAddress(1)}/depth`

test('depth is that of the newest sample at or before the instant, against one token at the same block', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = [now - 300, now - 240, now - 180]
  await addBlocks(clickhouse, times)
  // One token sells for 0.9998 and costs 0.9999 in the first block, then for 1.0002 and 1.0003; then nobody buys.
  const prices = [999_800, 1_000_200, 'no_liquidity'] as const
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    samples: pegSamples(
      stableAddress(1),
      times.map((at, i) => ({ at, price: prices[i] ?? 'failed' })),
    ),
  })
  const sample = (block: number, size_tokens: number, sell_raw: string | null, buy_raw: string | null) => ({
    stable: stableAddress(1),
    size_tokens,
    block_number: block,
    block_time: times[block - 1] as number,
    sell_status: sell_raw === null ? ('no_liquidity' as const) : ('quoted' as const),
    sell_raw,
    buy_status: buy_raw === null ? ('no_liquidity' as const) : ('quoted' as const),
    buy_raw,
  })
  await insertFacts(
    clickhouse,
    'depth_samples',
    [
      // 1 bps and 10 bps worse than one token to sell, 0 and 20 bps to buy.
      sample(1, 1000, '999700020', '999900000'),
      sample(1, 10_000, '9988002000', '10018998000'),
      sample(1, 100_000, null, '100000000000'),
      sample(1, 1_000_000, null, null),
      ...SIZES.map((size) => sample(3, size, null, `${size * 1_000_300}`)),
    ],
    'depth',
  )
  const at = async (time: number) => (await app.inject(`${DEPTH}?as_of=${time}`)).json()
  const none = { status: 'no_liquidity', amount: null, price: null, slippage_bps: null }
  const first = {
    address: stableAddress(1),
    block_number: 1,
    sampled_at: new Date((now - 300) * 1000).toISOString().replace(/\.\d+/, ''),
    coverage: { status: 'partial', message: expect.stringContaining('5 of 8') },
    sizes: [
      {
        size_tokens: 1000,
        sell: { status: 'quoted', amount: '999700020', price: 0.99970002, slippage_bps: 1 },
        buy: { status: 'quoted', amount: '999900000', price: 0.9999, slippage_bps: 0 },
      },
      {
        size_tokens: 10_000,
        sell: { status: 'quoted', amount: '9988002000', price: 0.9988002, slippage_bps: 10 },
        buy: { status: 'quoted', amount: '10018998000', price: 1.0018998, slippage_bps: 20 },
      },
      {
        size_tokens: 100_000,
        sell: none,
        buy: { status: 'quoted', amount: '100000000000', price: 1, slippage_bps: expect.closeTo(1.0001, 4) },
      },
      { size_tokens: 1_000_000, sell: none, buy: none },
    ],
  }
  for (const time of [now - 300, now - 181])
    expect(await at(time)).toMatchObject({ ...first, at_size: null, at_sizes: null })
  // One token has no price any more, so the slippage of a size is unknown.
  const live = (await app.inject(DEPTH)).json()
  expect(live).toMatchObject({ as_of: null, block_number: 3, coverage: { status: 'partial' } })
  for (const { sell, buy } of live.sizes) {
    expect(sell).toEqual(none)
    expect(buy).toMatchObject({ price: 1.0003, slippage_bps: null })
  }
  expect(await at(now)).toEqual({ ...live, as_of: clock.now.toISOString().replace(/\.\d+/, '') })
})

test('before the first sample there is no depth, and before history no answer', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBlocks(clickhouse, [now - 60])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  expect((await app.inject(DEPTH)).json()).toMatchObject({
    block_number: null,
    sampled_at: null,
    sizes: [],
    coverage: { status: 'unavailable' },
  })
  const before = await app.inject(`${DEPTH}?as_of=2m`)
  expect([before.statusCode, before.json().type]).toEqual([404, 'urn:plumbline:problem:before-history'])
})
