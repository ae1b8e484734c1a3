import { expect } from 'vitest'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { randomFor } from '../../../../local/chain/random.js'
import { test } from '../../../support/app.js'
import { account, addRows, roleChange } from '../../../support/economy-rows.js'
import {
  addBlocks,
  addFacts,
  pairOf,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  supplyEvent,
  tokenList,
  txHash,
} from '../../../support/rows.js'

const LIST = '/api/v1/stablecoins'
const NO_CAP = String(2n ** 128n - 1n)

test('without stables the list is empty', async ({ app }) => {
  const response = await app.inject(LIST)
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(response.json()).toEqual({ stablecoins: [], next_cursor: null })
})

test('stables in use are listed by symbol, then address, whether or not it has a price', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const [b, a2, a1, eur, unread] = [1, 3, 2, 4, 5].map(stableAddress) as [string, string, string, string, string]
  await addBlocks(clickhouse, [now - 7200, now - 3600, now - 60, now])
  await addFacts(clickhouse, {
    stablecoins: [
      stablecoin(1, { symbol: 'B' }),
      stablecoin(2, { symbol: 'A' }),
      stablecoin(3, { symbol: 'A' }),
      stablecoin(4, { symbol: 'EUR', currency: 'EUR' }),
      stablecoin(5, { symbol: 'Z' }),
      stablecoin(6, { symbol: 'P', stable: REFERENCE_STABLE }),
    ],
    states: [b, a1, a2, eur, REFERENCE_STABLE].map((stable) => stateRead(stable)),
    samples: [
      ...pegSamples(b, [
        { at: now - 60, price: 999_500 },
        { at: now, price: 998_000 },
      ]),
      ...pegSamples(a1, [
        { at: now - 60, price: 1_000_100 },
        { at: now, price: 'no_liquidity' },
      ]),
      // Its last price is older than the range that the list searches.
      ...pegSamples(a2, [
        { at: now - 7200, price: 1_000_300 },
        { at: now - 3600, price: 'paused' },
        { at: now, price: 'paused' },
      ]),
      ...pegSamples(eur, [{ at: now, price: 'not_usd' }]),
      ...pegSamples(REFERENCE_STABLE, [{ at: now, price: 'anchor' }]),
    ],
  })
  const { stablecoins } = (await app.inject(LIST)).json()
  expect(stablecoins.map(({ address }: { address: string }) => address)).toEqual([
    a1,
    a2,
    b,
    eur,
    REFERENCE_STABLE,
    unread,
  ])
  const sampled_at = (at: number) => `${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')}+00`
  const held = { quoted: true, price_age_seconds: 0 }
  const lost = (seconds: number) => ({ quoted: false, price_age_seconds: seconds })
  expect(
    stablecoins.map(({ peg, coverage }: { peg: object; coverage: { status: string } }) => [coverage.status, peg]),
  ).toEqual([
    [
      'partial',
      {
        price: 1.0001,
        spread_bps: 1,
        buy_price: 1.0002,
        mid_price: 1.00015,
        bid_ask_bps: 1,
        block_number: 1,
        sampled_at: sampled_at(now - 60),
        ...lost(60),
      },
    ],
    [
      'partial',
      {
        price: 1.0003,
        spread_bps: 3,
        buy_price: 1.0004,
        mid_price: 1.00035,
        bid_ask_bps: 1,
        block_number: 1,
        sampled_at: sampled_at(now - 7200),
        ...lost(7200),
      },
    ],
    [
      'complete',
      {
        price: 0.998,
        spread_bps: 20,
        buy_price: 0.9981,
        mid_price: 0.99805,
        bid_ask_bps: 1,
        block_number: 2,
        sampled_at: sampled_at(now),
        ...held,
      },
    ],
    ['unavailable', null],
    [
      'complete',
      {
        price: 1,
        spread_bps: 0,
        buy_price: 1.0001,
        mid_price: 1.00005,
        bid_ask_bps: 1,
        block_number: 1,
        sampled_at: sampled_at(now),
        ...held,
      },
    ],
    ['unavailable', null],
  ])
  expect(stablecoins[2]).toEqual({
    address: b,
    symbol: 'B',
    symbol_shared: false,
    name: 'Stable 1',
    currency: 'USD',
    truncated: [],
    tier: 'unlisted',
    in_use: true,
    tracked: true,
    max_deviation_24h_bps: 20,
    risk_score: null,
    risk_computed_at: null,
    open_break: null,
    peg: expect.any(Object),
    quote: { quoted: true, unquoted_since: null, unquoted_since_is_bound: false },
    coverage: expect.objectContaining({ status: 'complete', missing: [] }),
    supply: { current: '5000000', cap: '9000000' },
    policy: { type: 'allow_all', policy_id: '1', policy_admin: null, paused: false },
  })
  // Not read is not 0.
  expect(stablecoins[5]).toMatchObject({ supply: null, policy: null })

  // The single stable has the same values.
  for (const item of stablecoins) {
    const detail = (await app.inject(`${LIST}/${item.address}`)).json()
    expect(detail).toMatchObject(item)
  }
})

test('a stable has its newest state, exact to the last digit, and no cap at 2^128-1', async ({ app, clickhouse }) => {
  const stable = stableAddress(1)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    states: [
      stateRead(stable, { block_number: 9, block_time: 1_760_000_100, supply_raw: '1' }),
      stateRead(stable, {
        block_number: 11,
        block_time: 1_760_000_200,
        supply_raw: '340282366920938463463374607431768211454',
        cap_raw: NO_CAP,
        paused: true,
        policy_id: '18446744073709551615',
        policy_type: 'blacklist',
        policy_admin: stableAddress(0xad),
      }),
      stateRead(stable, { block_number: 10, block_time: 1_760_000_200, supply_raw: '2' }),
    ],
  })
  expect((await app.inject(`${LIST}/${stable}`)).json()).toMatchObject({
    supply: { current: '340282366920938463463374607431768211454', cap: null },
    policy: { type: 'blacklist', policy_id: '18446744073709551615', policy_admin: stableAddress(0xad), paused: true },
  })
})

test('a stable has its own last ten supply events, newest first', async ({ app, clickhouse }) => {
  const [stable, other] = [stableAddress(1), stableAddress(2)]
  const events = Array.from({ length: 12 }, (_, i) =>
    supplyEvent(stable, {
      kind: i % 2 === 0 ? 'mint' : 'burn',
      amount_raw: String(1000 + i),
      block_number: 100 + Math.floor(i / 2),
      log_index: i,
      block_time: 1_760_000_000 + Math.floor(i / 2),
      tx_hash: txHash(i),
    }),
  )
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2)],
    supplyEvents: [...events.toReversed(), supplyEvent(other, { block_time: 1_770_000_000 })],
  })
  const { recent_supply_events } = (await app.inject(`${LIST}/${stable}`)).json()
  expect(recent_supply_events.map(({ amount }: { amount: string }) => amount)).toEqual(
    Array.from({ length: 10 }, (_, i) => String(1011 - i)),
  )
  expect(recent_supply_events[0]).toEqual({
    kind: 'burn',
    account: stableAddress(0xacc),
    amount: '1011',
    block_number: 105,
    log_index: 11,
    block_timestamp: new Date(1_760_000_005_000).toISOString().replace('.000Z', 'Z'),
    tx_hash: txHash(11),
  })
})

test('a stable has the same role holders as its route for roles', async ({ app, clickhouse }) => {
  const holder = account(1)
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    role_events: [
      roleChange(
        'granted',
        { stable: stableAddress(1), role_name: 'ISSUER_ROLE', holder },
        { block_number: 1, block_time: 1_760_000_000 },
      ),
    ],
  })
  const { role_holders } = (await app.inject(`${LIST}/${stableAddress(1)}`)).json()
  expect(role_holders.roles).toMatchObject([{ role: 'ISSUER_ROLE', account: holder }])
  const { address, ...roles } = (await app.inject(`${LIST}/${stableAddress(1)}/roles`)).json()
  expect(roles).toEqual(role_holders)
})

test('an answer about the past has the stables, prices, states and events of that time', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const [early, late, quiet] = [1, 2, 3].map(stableAddress) as [string, string, string]
  // Ten days ago, when one stable was created; two days ago, when another was.
  const [first, then] = [now - 864_000, now - 172_800]
  await addBlocks(clickhouse, [first, then, then + 60, now])
  await addFacts(clickhouse, {
    stablecoins: [
      stablecoin(1, { block_time: first }),
      stablecoin(2, { block_time: then + 60 }),
      stablecoin(3, { block_time: first }),
    ],
    states: [
      stateRead(early, { block_time: then, block_number: 2, supply_raw: '10', policy_type: 'blacklist' }),
      stateRead(early, { block_time: now, block_number: 4, supply_raw: '30' }),
      stateRead(late, { block_time: then + 60, block_number: 3, supply_raw: '20' }),
      // Read once, long before the others, and not again.
      stateRead(quiet, { block_time: first, supply_raw: '7' }),
    ],
    samples: [
      ...pegSamples(early, [
        { at: then, price: 999_000 },
        { at: then + 60, price: 998_000 },
        { at: now, price: 997_000 },
      ]),
      ...pegSamples(late, [
        { at: then + 60, price: 1_001_000 },
        { at: now, price: 'no_liquidity' },
      ]),
    ],
    supplyEvents: [
      supplyEvent(early, { block_time: then, amount_raw: '1' }),
      supplyEvent(early, { block_time: then + 1, amount_raw: '2' }),
    ],
  })
  type Item = { address: string; supply: { current: string } | null; peg: { price: number } | null }
  const listAt = async (asOf: number | null) => {
    const url = asOf === null ? LIST : `${LIST}?as_of=${asOf}`
    const response = await app.inject(url)
    const { as_of, stablecoins } = response.json()
    expect(response.headers['x-service-as-of']).toBe(as_of)
    for (const item of stablecoins as Item[]) {
      const detail = (await app.inject(url.replace(LIST, `${LIST}/${item.address}`))).json()
      expect(detail).toMatchObject(item)
    }
    return (stablecoins as Item[]).map(({ address, supply, peg }) => [address, supply?.current, peg?.price])
  }
  expect(await listAt(first)).toEqual([
    [early, undefined, undefined],
    [quiet, '7', undefined],
  ])
  expect(await listAt(then + 59)).toEqual([
    [early, '10', 0.999],
    [quiet, '7', undefined],
  ])
  expect(await listAt(then + 60)).toEqual([
    [early, '10', 0.998],
    [late, '20', 1.001],
    [quiet, '7', undefined],
  ])
  const live = await listAt(null)
  expect(live.map(([address]) => address)).toEqual([early, late, quiet])
  expect(live.slice(0, 2)).toEqual([
    [early, '30', 0.997],
    [late, '20', 1.001],
  ])
  expect(await listAt(now)).toEqual(live)

  const past = (await app.inject(`${LIST}/${early}?as_of=${then}`)).json()
  expect(past.policy.type).toBe('blacklist')
  expect(past.recent_supply_events.map(({ amount }: { amount: string }) => amount)).toEqual(['1'])
  expect((await app.inject(`${LIST}/${late}?as_of=${then}`)).json()).toMatchObject({
    status: 404,
    type: 'urn:plumbline:problem:before-history',
    detail: expect.stringContaining('the stable was created'),
  })
  expect((await app.inject(`${LIST}?as_of=${first - 1}`)).statusCode).toBe(404)
})

test('a stable that ingest finds later is served without a restart', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  expect((await app.inject(`${LIST}/${stableAddress(1)}`)).statusCode).toBe(200)
  await addFacts(clickhouse, { stablecoins: [stablecoin(2)] })
  await expect
    .poll(async () => (await app.inject(`${LIST}/${stableAddress(2)}`)).statusCode, { timeout: 60_000 })
    .toBe(200)
})

test('an answer has at most 500 stables, listed ones first, then others in use, and pages give every one once', async ({
  app,
  clickhouse,
}) => {
  const random = randomFor(5, 'list')
  // Strangers choose symbols that come before all others, and as long as they like.
  const symbols = ['', ' ', '\u0001'.repeat(64), '💵'.repeat(64), '"\\'.repeat(32), 'USD']
  const stablecoins = Array.from({ length: 1200 }, (_, i) => stablecoin(i, { symbol: random.pick(symbols) }))
  const indexOf = new Map(stablecoins.map(({ stable }, i) => [stable, i]))
  const isListed = (i: number): boolean => i % 100 === 99
  const isPaired = (i: number): boolean => i % 3 === 0
  await addFacts(clickhouse, {
    stablecoins,
    lists: [
      tokenList({ track: 'listed', stables: stablecoins.filter((_, i) => isListed(i)).map(({ stable }) => stable) }),
    ],
    pairs: stablecoins.filter((_, i) => isPaired(i)).map((one) => ({ ...pairOf(one), quote: one.stable })),
  })
  type Page = { stablecoins: { address: string; symbol: string; in_use: boolean }[]; next_cursor: string | null }
  const walk = async (limit: string): Promise<Page['stablecoins'][]> => {
    const pages: Page['stablecoins'][] = []
    for (let query: string | null = limit; query !== null; ) {
      const page: Page = (await app.inject(`${LIST}?${query}`)).json()
      pages.push(page.stablecoins)
      query = page.next_cursor && `${limit}&cursor=${page.next_cursor}`
    }
    return pages
  }
  const rankOf = (address: string): number => {
    const i = indexOf.get(address) as number
    return isListed(i) ? 0 : isPaired(i) ? 1 : 2
  }
  const expected = stablecoins
    .map(({ stable: address, symbol }) => ({ address, symbol }))
    .sort(
      (a, b) =>
        rankOf(a.address) - rankOf(b.address) ||
        Buffer.compare(Buffer.from(a.symbol), Buffer.from(b.symbol)) ||
        (a.address < b.address ? -1 : 1),
    )
  for (const [limit, lengths] of [
    ['', [500, 500, 200]],
    ['limit=333', [333, 333, 333, 201]],
  ] as const) {
    const pages = await walk(limit)
    expect(pages.map(({ length }) => length)).toEqual(lengths)
    expect(pages.flat().map(({ address, symbol }) => ({ address, symbol }))).toEqual(expected)
    expect(pages.flat().map(({ in_use }) => in_use)).toEqual(expected.map(({ address }) => rankOf(address) < 2))
  }
  const listed = await walk('tier=listed&limit=5')
  expect(listed.flat()).toHaveLength(12)
  expect((await walk('tracked=false'))[0]).toHaveLength(500)
})
