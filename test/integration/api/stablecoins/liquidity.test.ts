import { expect } from 'vitest'
import { insertChainHead } from '../../../../clickhouse/chain/heads.js'
import type { DepthSample } from '../../../../clickhouse/depth/depth.js'
import { insertFacts } from '../../../../clickhouse/facts/facts.js'
import { type QuoteStatus, REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { type Random, randomFor } from '../../../../local/chain/random.js'
import { type LiquidityFacts, liquidityAt, liquidityColumns } from '../../../../oracle/liquidity.js'
import { bucketStarts } from '../../../../oracle/series.js'
import { differences } from '../../../../tools/verify/answers/differences.js'
import { test } from '../../../support/app.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead, txHash } from '../../../support/rows.js'

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const OTHER: QuoteStatus[] = ['no_pair', 'failed', 'paused', 'out_of_range']

const urlOf = (stable: string, query = '') => `/api/v1/stablecoins/${stable}/liquidity${query}`

type Quotes = Pick<DepthSample, 'sell_status' | 'sell_raw' | 'buy_status' | 'buy_raw'>

/** Prices in millionths of 1; null without liquidity. */
const quotes = (size: number, sell: number | null, buy: number | null): Quotes => ({
  sell_status: sell === null ? 'no_liquidity' : 'quoted',
  sell_raw: sell === null ? null : `${size * sell}`,
  buy_status: buy === null ? 'no_liquidity' : 'quoted',
  buy_raw: buy === null ? null : `${size * buy}`,
})

/** What a book quotes: worse with size, sometimes not at all, on one side only, or for another reason. */
function randomBook(random: Random): Quotes[] {
  const depth = random.int(0, 5)
  const ends = [depth, random.chance(0.2) ? 0 : random.int(0, 5)]
  let [sell, buy] = [1_000_000 + random.int(-3000, 3000), 1_000_000 + random.int(-3000, 3000)]
  return SIZES.map((size, i) => {
    sell -= random.int(0, 5000)
    buy += random.int(0, 5000)
    const row = quotes(size, i < (ends[0] as number) ? sell : null, i < (ends[1] as number) ? buy : null)
    return random.chance(0.05) ? { ...row, sell_status: random.pick(OTHER), sell_raw: null } : row
  })
}

const samplesOf = (stable: string, place: { block_number: number; block_time: number }, book: readonly Quotes[]) =>
  book.map((row, i) => ({ stable, size_tokens: SIZES[i] as number, ...place, ...row }))

test('every figure follows from the samples, at random instants, for any size and in any bucket', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const random = randomFor(18, 'liquidity', 1)
  // With a gap of 40 minutes; some blocks share a second.
  const times: number[] = []
  for (let at = now - 7 * 3600; at < now; at += random.int(0, 90)) {
    if (at < now - 4 * 3600 || at > now - 4 * 3600 + 2400) times.push(at)
  }
  await addBlocks(clickhouse, times)
  const places = times.map((block_time, i) => ({ block_number: i + 1, block_time }))
  const stables = [1, 2].map(stableAddress)
  // The second is sold through the first, later directly.
  const created = { block_number: 1, block_time: times[0] as number }
  const changed = places[Math.floor(places.length / 2)] as (typeof places)[number]
  const stablecoins = [
    stablecoin(1, created),
    stablecoin(2, { ...created, quote_token: stableAddress(1) }),
    stablecoin(3, { ...created, quote_token: stableAddress(9) }),
  ]
  const update = {
    stable: stableAddress(2),
    quote_token: REFERENCE_STABLE,
    log_index: 3,
    tx_hash: txHash(7),
    ...changed,
  }
  const depth = stables.flatMap((stable) =>
    places
      .filter(({ block_number }) => block_number % 3 === 0)
      .flatMap((place) => samplesOf(stable, place, random.chance(0.1) ? quotesOfPulled : randomBook(random))),
  )
  const states = stables.flatMap((stable) =>
    places
      .filter(() => random.chance(0.1))
      .map((place) => stateRead(stable, { ...place, supply_raw: `${random.int(0, 3) * random.int(1, 1e15)}` })),
  )
  const samples = stables.flatMap((stable) =>
    pegSamples(
      stable,
      times.map((at) => ({ at, price: random.int(990_000, 1_010_000) })),
    ),
  )
  await addFacts(clickhouse, { stablecoins, states, samples })
  await insertFacts(clickhouse, 'quote_token_updates', [update], 'quotes')
  await insertFacts(clickhouse, 'depth_samples', depth, 'depth')

  const factsOf = (stable: string): LiquidityFacts => ({
    depth: depth.filter((row) => row.stable === stable),
    states: states.filter((row) => row.stable === stable),
    quotedIn: [...stablecoins, update],
  })
  const seen = new Set<string>()
  for (let i = 0; i < 60; i++) {
    const stable = random.pick(stables)
    const at = random.chance(0.3) ? random.pick(times) : random.int(times[0] as number, now)
    const response = await app.inject(urlOf(stable, `?as_of=${at}`))
    const expected = liquidityAt(factsOf(stable), stable, at)
    expect([at, response.statusCode, differences(response.json(), expected)]).toEqual([at, 200, []])
    seen.add(`route of ${expected.route?.length}`)
    for (const { sell } of expected.depth_at_bps)
      seen.add(`depth ${sell.tokens !== null} ${sell.at_least_tokens !== null} ${sell.less_than_tokens !== null}`)
  }
  // A run that never met a case would say nothing about it.
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'route of 2',
      'route of 3',
      'depth true true true',
      'depth false true true',
      'depth false true false',
      'depth false false true',
    ]),
  )

  for (const [step, seconds] of [
    ['1m', 60],
    ['5m', 300],
    ['1h', 3600],
  ] as const) {
    const from = now - random.int(5, 7) * 3600
    const starts = bucketStarts(seconds, from, now, times[0] as number, times.at(-1) as number)
    const answer = await app.inject(urlOf(stableAddress(2), `/series?from=${from}&to=${now}&step=${step}`))
    const expected = liquidityColumns(factsOf(stableAddress(2)).depth, starts, seconds)
    expect([step, differences(answer.json(), expected)]).toEqual([step, []])
  }
})

/** Nothing is for sale and nobody buys. */
const quotesOfPulled: Quotes[] = SIZES.map((size) => quotes(size, null, null))

test('a book that is pulled for one block is empty then, and back at the next sample', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = [now - 180, now - 120, now - 60]
  const full = SIZES.map((size) => quotes(size, 999_900, 1_000_100))
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const rows = [full, quotesOfPulled, full].flatMap((book, i) =>
    samplesOf(stableAddress(1), { block_number: i + 1, block_time: times[i] as number }, book),
  )
  await insertFacts(clickhouse, 'depth_samples', rows, 'depth')
  const at = async (time: number) => {
    const { depth_at_bps, sample_age_seconds } = (await app.inject(urlOf(stableAddress(1), `?as_of=${time}`))).json()
    return { sell: depth_at_bps[1].sell, sample_age_seconds }
  }
  const whole = {
    sell: { tokens: null, at_least_tokens: 1_000_000, less_than_tokens: null },
  }
  expect(await at(now - 121)).toEqual({ ...whole, sample_age_seconds: 59 })
  expect(await at(now - 120)).toEqual({
    sell: { tokens: null, at_least_tokens: null, less_than_tokens: 1000 },
    sample_age_seconds: 0,
  })
  expect(await at(now - 60)).toEqual({ ...whole, sample_age_seconds: 0 })
})

test('where nothing is sampled there are no figures, and the answer says why', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const place = { block_number: 1, block_time: now - 3000 }
  // Nothing was read in the last 50 minutes.
  await addBlocks(clickhouse, [place.block_time])
  await addFacts(clickhouse, {
    stablecoins: [
      stablecoin(1, place),
      stablecoin(2, place),
      stablecoin(3, { ...place, stable: REFERENCE_STABLE, quote_token: '' }),
    ],
    states: [stateRead(stableAddress(1), place)],
  })
  const without = SIZES.map(
    (): Quotes => ({ sell_status: 'no_pair', sell_raw: null, buy_status: 'no_pair', buy_raw: null }),
  )
  await insertFacts(clickhouse, 'depth_samples', samplesOf(stableAddress(1), place, without), 'depth')
  const ask = async (stable: string, query = '') => (await app.inject(urlOf(stable, query))).json()
  const unknown = { tokens: null, at_least_tokens: null, less_than_tokens: null }
  const none = {
    depth_at_bps: [10, 50, 100].map((bps) => ({ bps, sell: unknown, buy: unknown })),
    exit_share: { share: null, at_least: null, less_than: null },
    exit_cost: null,
  }
  expect(await ask(stableAddress(1), `?as_of=${place.block_time}`)).toMatchObject({
    ...none,
    coverage: { status: 'unavailable', message: 'No size is quoted.' },
    sizes: SIZES.map((size_tokens) => ({ size_tokens, sell: { status: 'no_pair', price: null, deviation_bps: null } })),
    route: [stableAddress(1), REFERENCE_STABLE],
    supply: '5000000',
  })
  // What the order books quote, whatever is sampled: nobody has opened one.
  expect((await ask(stableAddress(1), `?as_of=${place.block_time}&size=5000`)).exit_cost.reason).toBe('failed')
  expect(await ask(stableAddress(2), '?size=5000')).toMatchObject({
    ...none,
    sizes: [],
    route: null,
    sample_age_seconds: null,
    exit_cost: { size_tokens: 5000, exit_cost_bps: null, reason: 'failed' },
    coverage: { status: 'unavailable', message: expect.stringContaining('No depth of it is sampled') },
  })
  expect(await ask(REFERENCE_STABLE)).toMatchObject({
    ...none,
    sizes: [],
    route: null,
    coverage: { status: 'unavailable', message: expect.stringContaining('reference stable') },
  })
  // The last sample is shown with its age, and the coverage says that nothing was read since.
  await insertChainHead(clickhouse, { tag: 'latest', block_number: 3000, block_time: now - 5 })
  expect(await ask(stableAddress(1))).toMatchObject({
    sample_age_seconds: 3000,
    coverage: { status: 'unavailable', missing_count: 1 },
  })
})

test('a size that is not a whole number of tokens is refused', async ({ app, clickhouse, clock }) => {
  await addBlocks(clickhouse, [Math.floor(clock.now.getTime() / 1000) - 10])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  for (const size of ['0', '-5', '1.5', '1e30', '1e3', '0x10', '', ' 5', '007', '1'.repeat(31), 'NaN', '1&size=2']) {
    const response = await app.inject(urlOf(stableAddress(1), `?size=${size}`))
    expect([size, response.statusCode, response.json().parameter]).toEqual([size, 400, 'size'])
  }
  for (const size of ['1', '999999999999999'])
    expect((await app.inject(urlOf(stableAddress(1), `?size=${size}`))).statusCode).toBe(200)
})
