import { describe, expect } from 'vitest'
import { insertChainIdentity } from '../../../../clickhouse/chain/identity.js'
import { REFERENCE_STABLE } from '../../../../clickhouse/peg/price.js'
import { SUBSCRIPTION_KEY, test } from '../../../support/app.js'
import {
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  type Tick,
  tokenList,
} from '../../../support/rows.js'

const NO_CAP = '340282366920938463463374607431768211455'
const WEEK = 604_800
const url = (address: string) => `/api/v1/stablecoins/${address}/analysis`
const headers = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }

describe('an analysis is paid for', () => {
  test('by a subscription key; other faults are reported first', async ({ app, clickhouse }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    const status = async (path: string, authorization?: string) =>
      (await app.inject({ url: path, ...(authorization !== undefined && { headers: { authorization } }) })).statusCode
    for (const key of [undefined, headers.authorization]) {
      expect(await status(url(stableAddress(2)), key)).toBe(404)
      expect(await status(url('0x12'), key)).toBe(400)
      expect(await status(`${url(stableAddress(1))}?hours=1`, key)).toBe(400)
    }
    expect(await status(url(stableAddress(1)))).toBe(402)
    expect(await status(url(stableAddress(1)), 'Bearer nobody-knows-this-key-of-32-characters')).toBe(401)
    expect(await status(url(stableAddress(1)), headers.authorization)).toBe(200)
    expect((await app.inject(url(stableAddress(1)))).json()).toMatchObject({
      type: 'urn:plumbline:problem:payment-required',
      price: '0.05',
      currency: REFERENCE_STABLE,
    })
  })
})

describe('a briefing on a stable without a curated one', () => {
  test('says so, and is made from its rows', async ({ app, clickhouse, clock }) => {
    const stable = stableAddress(1)
    const mark = Math.floor(clock.now.getTime() / 300_000) * 300
    // The first is exactly a week old, so it is outside the window; the last is after its end.
    const ticks: Tick[] = [
      { at: mark - WEEK, price: 500_000 },
      { at: mark - 4000, price: 999_600 },
      { at: mark - 3900, price: 998_400 },
      { at: mark - 3880, price: 'no_liquidity' },
      { at: mark - 3000, price: 1_005_100 },
      { at: mark - 2990, price: 999_999 },
      { at: mark, price: 1_000_000 },
      { at: mark + 2, price: 700_000 },
    ]
    const samples = pegSamples(stable, ticks)
    await addFacts(clickhouse, {
      stablecoins: [stablecoin(1, { block_number: 77, block_time: 1_760_000_000 })],
      lists: [tokenList({ stables: [stable] })],
      samples,
      states: [
        stateRead(stable, { block_time: 1_760_000_000, supply_raw: '1', policy_type: 'whitelist' }),
        stateRead(stable, {
          block_number: 9,
          block_time: 1_760_000_100,
          supply_raw: '1234567890120000',
          cap_raw: '2000000000000000',
          policy_id: '12',
          policy_type: 'blacklist',
          policy_admin: stableAddress(0xad),
        }),
      ],
    })
    const { address, symbol, briefing } = (await app.inject({ url: url(stable), headers })).json()

    const inWindow = samples.filter(({ block_time }) => block_time > mark - WEEK && block_time <= mark)
    const priced = inWindow.flatMap(({ sell_micros, elapsed_seconds }) =>
      sell_micros === null ? [] : [{ away: Math.abs(sell_micros - 1_000_000), elapsed_seconds }],
    )
    const most = Math.max(...priced.map(({ away }) => away)) / 100
    const outside = (bps: number) =>
      priced.filter(({ away }) => away > bps * 100).reduce((sum, { elapsed_seconds }) => sum + elapsed_seconds, 0)
    expect([most, outside(10), outside(50), priced.length, inWindow.length]).toEqual([51, 220, 120, 5, 6])

    expect([address, symbol]).toEqual([stable, 'S1'])
    expect(briefing).toEqual({
      origin_kind: 'measured',
      origin: `Created by the token factory in block 77, ${new Date(1_760_000_000_000).toISOString().replace('.000', '')}. The token declares USD as its currency. It is on the chain's public token list.`,
      backing: 'not-stated',
      issuer_context: `There is no curated information about its issuer. ${stableAddress(0xad)} was its first admin. 1234567890.12 tokens are issued. What backs it cannot be read from the chain.`,
      risk: { peg_risk: 'medium', policy_risk: 'medium', centralization_risk: 'medium' },
      risk_basis: {
        peg_risk: `In the last 7 days at most ${most} bps from 1, ${outside(10)} s outside 10 bps and ${outside(50)} s outside 50 bps; 1 of 6 samples had no price.`,
        policy_risk: 'Transfer policy 12: accounts can be barred from it.',
        centralization_risk: `Its supply is capped at 2000000000 tokens, and ${stableAddress(0xad)} administers its policy.`,
      },
      sources: [],
      reviewed_on: null,
      measured_at: new Date(mark * 1000).toISOString().replace('.000', ''),
    })
  })

  test('rates nothing that was not measured', async ({ app, clickhouse }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1, { block_number: 0, admin: '', currency: 'EUR' })] })
    const answer = (await app.inject({ url: url(stableAddress(1)), headers })).json()
    const { briefing } = answer
    expect(briefing.risk).toEqual({ peg_risk: 'unrated', policy_risk: 'unrated', centralization_risk: 'unrated' })
    expect(briefing.measured_at).toBeNull()
    expect(briefing.origin).toContain('since its genesis block')
    expect(briefing.origin).toContain('a currency other than USD')
    expect(briefing.issuer_context).toContain('does not record its first admin')
  })

  test('repeats none of the token’s own texts except its symbol', async ({ app, clickhouse }) => {
    const hostile = `<script>"'; DROP TABLE blocks --\n\u0000😈`
    const facts = { symbol: hostile, name: `name ${hostile}`, currency: `USD ${hostile}` }
    await addFacts(clickhouse, { stablecoins: [stablecoin(1, facts)] })
    const answer = (await app.inject({ url: url(stableAddress(1)), headers })).json()
    expect(answer.symbol).toBe(hostile)
    expect(JSON.stringify(answer.briefing)).not.toContain('script')
  })
})

test('a stable with a curated briefing has its text, on its own chain only, and measured ratings', async ({
  app,
  clickhouse,
}) => {
  const usdc = '0x20c000000000000000000000b9537d11c60e8b50'
  const stables = [
    stablecoin(1, { stable: REFERENCE_STABLE, symbol: 'pathUSD', block_number: 0, admin: '' }),
    stablecoin(2, { stable: usdc, symbol: 'USDC.e' }),
  ]
  const states = [stateRead(REFERENCE_STABLE), stateRead(usdc, { cap_raw: NO_CAP, policy_admin: stableAddress(0xad) })]
  await addFacts(clickhouse, { stablecoins: stables, states })
  const analysis = async (stable: string) => (await app.inject({ url: url(stable), headers })).json().briefing
  // The chain is not yet known.
  expect((await analysis(usdc)).origin_kind).toBe('measured')
  await insertChainIdentity(clickhouse, { chain_id: 4217, genesis_hash: `0x${'1'.repeat(64)}` }, 'tempo')
  expect(await analysis(usdc.toUpperCase().replace('0X', '0x'))).toMatchObject({
    origin_kind: 'curated',
    backing: 'bridged',
    origin: expect.stringContaining('Stargate'),
    sources: [{ url: 'https://docs.tempo.xyz/docs/guide/bridge-layerzero' }],
    reviewed_on: expect.any(String),
    risk: { peg_risk: 'unrated', policy_risk: 'low', centralization_risk: 'high' },
  })
  expect(await analysis(REFERENCE_STABLE)).toMatchObject({
    origin_kind: 'curated',
    backing: 'protocol-native',
    risk: { peg_risk: 'unrated', policy_risk: 'low', centralization_risk: 'low' },
    risk_basis: { peg_risk: expect.stringContaining('by definition') },
  })
})

test('the same address on another chain is another stable', async ({ app, clickhouse }) => {
  await addFacts(clickhouse, { stablecoins: [stablecoin(1, { stable: REFERENCE_STABLE, block_number: 0, admin: '' })] })
  await insertChainIdentity(clickhouse, { chain_id: 31_337, genesis_hash: `0x${'2'.repeat(64)}` }, 'other')
  const { briefing } = (await app.inject({ url: url(REFERENCE_STABLE), headers })).json()
  expect([briefing.origin_kind, briefing.backing]).toEqual(['measured', 'not-stated'])
})
