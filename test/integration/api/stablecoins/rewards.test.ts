import { expect } from 'vitest'
import { isoSeconds } from '../../../../process/instants.js'
import { test } from '../../../support/app.js'
import { account, addRows, rewardDistribution, rewardRecipient } from '../../../support/economy-rows.js'
import { addBlocks, stableAddress, stablecoin, stateRead, txHash } from '../../../support/rows.js'

const STABLE = stableAddress(1)
const OTHER = stableAddress(2)
const URL = `/api/v1/stablecoins/${STABLE}/rewards`
const ZERO = `0x${'0'.repeat(40)}`
const FEE_MANAGER = '0xfeec000000000000000000000000000000000000'
const DAY = 86_400

test('a stable without rewards has zeros, and null where nothing was read', async ({ app, clickhouse, clock }) => {
  await addBlocks(clickhouse, [Math.floor(clock.now.getTime() / 1000)])
  await addRows(clickhouse, { stablecoins: [stablecoin(1)] })
  expect((await app.inject(URL)).json()).toEqual({
    address: STABLE,
    as_of: null,
    effective_apy_pct: null,
    measured_days: 7,
    apr_pct: null,
    opted_in_supply: null,
    opted_in_tokens: null,
    global_reward_per_token: null,
    distribution_count: 0,
    distributed: { last_24h_tokens: 0, last_7d_tokens: 0, all_time_tokens: 0 },
    opt_in: { recipient_count: 0, distinct_recipients: 0, redirected_count: 0 },
    top_funders: [],
    recent_distributions: [],
    coverage: expect.objectContaining({ status: 'partial', missing: [] }),
  })
})

test('windows include the instant at their end, not the one at their start; the yield is over seven days', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const given = (tokens: number, block_time: number, block_number: number) =>
    rewardDistribution(STABLE, account(1), tokens, { block_number, block_time })
  await addBlocks(clickhouse, [now - 8 * DAY, now])
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    reward_distributions: [
      given(1, now - 7 * DAY, 1),
      given(2, now - 7 * DAY + 1, 2),
      given(4, now - DAY, 3),
      given(8, now - DAY + 1, 4),
      given(16, now, 5),
      given(32, now + 1, 6),
      rewardDistribution(OTHER, account(1), 64, { block_number: 5, block_time: now }),
    ],
    state_reads: [
      stateRead(STABLE, {
        block_number: 5,
        block_time: now,
        opted_in_raw: '1000000000',
        reward_per_token_raw: '123456789012345678901234567890',
      }),
      stateRead(STABLE, { block_number: 6, block_time: now + 1, opted_in_raw: '1' }),
    ],
  })
  const live = (await app.inject(URL)).json()
  expect(live).toMatchObject({
    distribution_count: 5,
    distributed: { last_24h_tokens: 24, last_7d_tokens: 30, all_time_tokens: 31 },
    opted_in_supply: '1000000000',
    opted_in_tokens: 1000,
    global_reward_per_token: '123456789012345678901234567890',
    coverage: { status: 'complete' },
  })
  expect(live.effective_apy_pct).toBeCloseTo(156.428571428571, 10)
  expect(live).toMatchObject({ measured_days: 7, apr_pct: live.effective_apy_pct })
})

test('the yield of a pool that is a day old is over that day', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const made = now - 25 * 3600
  // The newest block is a few seconds old, as it always is; the windows end with it.
  await addBlocks(clickhouse, [now - 8 * DAY, made, now - 3])
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1, { block_number: 2, block_time: made })],
    reward_distributions: [rewardDistribution(STABLE, account(1), 10, { block_number: 3, block_time: now - 3 })],
    state_reads: [stateRead(STABLE, { block_number: 3, block_time: now - 3, opted_in_raw: '1000000000' })],
  })
  const live = (await app.inject(URL)).json()
  expect(live.measured_days).toBeCloseTo((25 * 3600 - 3) / DAY, 10)
  expect(live.apr_pct).toBeCloseTo((0.01 * 365 * DAY * 100) / (25 * 3600 - 3), 10)
  expect(live.effective_apy_pct).toBeCloseTo((0.01 * 365 * 100) / 7, 10)
})

test('without opted-in supply the yield is null, not infinite', async ({ app, clickhouse, clock }) => {
  const block_time = Math.floor(clock.now.getTime() / 1000)
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    reward_distributions: [rewardDistribution(STABLE, account(1), 5, { block_number: 1, block_time })],
    state_reads: [stateRead(STABLE, { block_time, opted_in_raw: '0' })],
  })
  const live = (await app.inject(URL)).json()
  expect(live).toMatchObject({ effective_apy_pct: null, opted_in_supply: '0', opted_in_tokens: 0 })
})

test('each holder counts by its last choice, even of two in one block, and not after opting out', async ({
  app,
  clickhouse,
}) => {
  const [own, redirecting, undecided, out, back] = [1, 2, 3, 4, 5].map(account) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const chosen = (holder: string, recipient: string, block: number, log_index = 0) =>
    rewardRecipient(STABLE, holder, recipient, { block_number: block, block_time: 1_760_000_000 + block, log_index })
  await addBlocks(
    clickhouse,
    [0, 1, 2, 3, 4].map((n) => 1_760_000_000 + n),
    0,
  )
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    reward_recipients: [
      chosen(own, own, 1),
      chosen(redirecting, own, 1, 1),
      // Two logs of one block; the later one was inserted first.
      chosen(undecided, account(9), 2, 11),
      chosen(undecided, undecided, 2, 2),
      chosen(out, out, 2, 3),
      chosen(out, ZERO, 3),
      chosen(back, ZERO, 3, 1),
      chosen(back, back, 4),
      rewardRecipient(OTHER, account(7), account(7), { block_number: 4, block_time: 1_760_000_004 }),
    ],
  })
  const optIns = async (asOf?: number) =>
    (await app.inject({ url: URL, query: asOf ? { as_of: `${asOf}` } : {} })).json().opt_in
  expect(await optIns()).toEqual({ recipient_count: 4, distinct_recipients: 3, redirected_count: 2 })
  expect(await optIns(1_760_000_003)).toEqual({ recipient_count: 3, distinct_recipients: 2, redirected_count: 2 })
  expect(await optIns(1_760_000_002)).toEqual({ recipient_count: 4, distinct_recipients: 3, redirected_count: 2 })
  expect(await optIns(1_760_000_000)).toEqual({ recipient_count: 0, distinct_recipients: 0, redirected_count: 0 })
})

test('the ten largest funders are ordered by amount, the last ten distributions newest first, labelled where known', async ({
  app,
  clickhouse,
}) => {
  const at = (block_number: number, log_index = 0) => ({
    block_number,
    block_time: 1_760_000_000 + block_number,
    log_index,
  })
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    reward_distributions: [
      ...Array.from({ length: 12 }, (_, i) => rewardDistribution(STABLE, account(20 - i), 100 + (i % 6), at(i))),
      rewardDistribution(STABLE, FEE_MANAGER, 1, at(12, 2)),
      rewardDistribution(STABLE, FEE_MANAGER, 200, at(12, 11)),
    ],
  })
  const { top_funders, recent_distributions } = (await app.inject(URL)).json()
  expect(top_funders[0]).toEqual({
    address: FEE_MANAGER,
    label: 'Fee manager',
    distribution_count: 2,
    total_amount_tokens: 201,
  })
  // Of equal amounts, the lower address comes first.
  expect(top_funders.slice(1).map(({ address }: { address: string }) => address)).toEqual(
    [9, 15, 10, 16, 11, 17, 12, 18, 13].map(account),
  )
  expect(top_funders[1].label).toBeNull()
  expect(recent_distributions).toHaveLength(10)
  expect(recent_distributions.slice(0, 3)).toEqual([
    {
      funder: FEE_MANAGER,
      funder_label: 'Fee manager',
      amount_tokens: 200,
      block_number: 12,
      block_timestamp: isoSeconds(new Date(1_760_000_012_000)),
      tx_hash: txHash(12_011),
    },
    expect.objectContaining({ amount_tokens: 1, tx_hash: txHash(12_002) }),
    expect.objectContaining({ funder: account(9), funder_label: null, amount_tokens: 105, block_number: 11 }),
  ])
})

test('an answer about the past has its sums, no live reads, and its instant', async ({ app, clickhouse }) => {
  await addBlocks(clickhouse, [1_760_000_000, 1_760_000_100])
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    state_reads: [stateRead(STABLE)],
    reward_distributions: [
      rewardDistribution(STABLE, account(1), 3, { block_number: 1, block_time: 1_760_000_000 }),
      rewardDistribution(STABLE, account(2), 4, { block_number: 2, block_time: 1_760_000_100 }),
    ],
  })
  const response = await app.inject(`${URL}?as_of=1760000099`)
  expect(response.json()).toMatchObject({
    as_of: '2025-10-09T08:54:59Z',
    distributed: { all_time_tokens: 3 },
    top_funders: [{ address: account(1) }],
    coverage: { status: 'complete' },
  })
  expect(response.headers['x-service-as-of']).toBe('2025-10-09T08:54:59Z')
  const before = await app.inject(`${URL}?as_of=1759999999`)
  expect(before.json()).toMatchObject({ status: 404, type: 'urn:plumbline:problem:before-history', parameter: 'as_of' })
})

test('sums beyond 128 bits do not wrap', async ({ app, clickhouse }) => {
  const huge = { amount_raw: `${2n ** 128n - 1n}` }
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    reward_distributions: [1, 2, 3].map((block_number) => ({
      ...rewardDistribution(STABLE, account(1), 0, { block_number, block_time: 1_760_000_000 }),
      ...huge,
    })),
  })
  const { distributed, top_funders } = (await app.inject(URL)).json()
  expect(distributed.all_time_tokens).toBeCloseTo(Number(3n * 2n ** 128n) / 1e6, -20)
  expect(top_funders[0].total_amount_tokens).toBe(distributed.all_time_tokens)
})

test('on a chain that ended rewards the yield is null, not zero', async ({ app, clickhouse, clock }) => {
  clock.now = new Date('2026-08-01T00:00:00Z')
  const block_time = clock.now.getTime() / 1000
  await addBlocks(clickhouse, [block_time])
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1)],
    state_reads: [stateRead(STABLE, { block_time, opted_in_raw: '7000000' })],
  })
  expect((await app.inject(URL)).json()).toMatchObject({ effective_apy_pct: 0, coverage: { status: 'complete' } })
  await clickhouse.insert({
    table: 'chain_identity',
    values: [{ chain_id: 4217, genesis_hash: txHash(1) }],
    format: 'JSONEachRow',
  })
  expect((await app.inject(URL)).json()).toMatchObject({
    effective_apy_pct: null,
    opted_in_tokens: 7,
    coverage: { status: 'partial', message: expect.stringContaining('2026-07-09') },
  })
})
