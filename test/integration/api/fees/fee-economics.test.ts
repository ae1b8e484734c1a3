import { expect } from 'vitest'
import { devAccount } from '../../../../local/chain/accounts.js'
import { test } from '../../../support/app.js'
import { account, addRows, feeDistribution, feeElection } from '../../../support/economy-rows.js'
import { addBlocks, stableAddress, stablecoin, txHash } from '../../../support/rows.js'

type Counts = { users_electing: number; validators_electing: number }
/** What a page is read for here. */
type Page = { totals: Counts; stablecoins: (Counts & { address: string })[]; next_cursor: string | null }

const URL = '/api/v1/fee-economics/overview'
const [A, B, C] = [1, 2, 3].map(stableAddress) as [string, string, string]
const UNTRACKED = stableAddress(99)
const ZERO = `0x${'0'.repeat(40)}`
const DAY = 86_400
const STABLES = [stablecoin(1), stablecoin(2), stablecoin(3)]

test('without fees every stable has a row of zeros, and no share', async ({ app, clickhouse }) => {
  await addRows(clickhouse, { stablecoins: STABLES })
  const zeros = {
    users_electing: 0,
    validators_electing: 0,
    fees_received_24h_tokens: 0,
    fees_received_7d_tokens: 0,
    fees_received_all_time_tokens: 0,
    share_of_fees_7d_pct: null,
    distribution_count: 0,
  }
  const answer = (await app.inject(URL)).json()
  expect(answer).toEqual({
    as_of: null,
    totals: {
      users_electing: 0,
      validators_electing: 0,
      fees_distributed_7d_tokens: 0,
      fees_distributed_all_time_tokens: 0,
      distribution_count: 0,
    },
    stablecoins: [
      { address: A, symbol: 'S1', name: 'Stable 1', ...zeros },
      { address: B, symbol: 'S2', name: 'Stable 2', ...zeros },
      { address: C, symbol: 'S3', name: 'Stable 3', ...zeros },
    ],
    next_cursor: null,
    recent_distributions: [],
    coverage: expect.objectContaining({ status: 'unavailable' }),
  })
})

test('stables are ordered by the fees of the seven days up to the instant; shares are of all fees', async ({
  app,
  clickhouse,
  clock,
}) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const paid = (stable: string, tokens: number, block_time: number, block_number: number) =>
    feeDistribution(stable, account(1), tokens, { block_number, block_time })
  await addRows(clickhouse, {
    stablecoins: STABLES,
    fee_distributions: [
      // The largest, but not within these seven days.
      paid(A, 1000, now - 7 * DAY, 1),
      paid(B, 1, now - 7 * DAY + 1, 2),
      paid(B, 2, now - DAY, 3),
      paid(B, 4, now - DAY + 1, 4),
      paid(C, 8, now, 5),
      paid(C, 16, now + 1, 6),
      // Fees can be paid out in a token that is not tracked.
      paid(UNTRACKED, 5, now, 5),
    ],
  })
  const { totals, stablecoins } = (await app.inject(URL)).json()
  expect(totals).toMatchObject({
    fees_distributed_7d_tokens: 20,
    fees_distributed_all_time_tokens: 1020,
    distribution_count: 6,
  })
  expect(stablecoins).toMatchObject([
    {
      address: C,
      fees_received_24h_tokens: 8,
      fees_received_7d_tokens: 8,
      fees_received_all_time_tokens: 8,
      share_of_fees_7d_pct: 40,
      distribution_count: 1,
    },
    {
      address: B,
      fees_received_24h_tokens: 4,
      fees_received_7d_tokens: 7,
      fees_received_all_time_tokens: 7,
      share_of_fees_7d_pct: 35,
      distribution_count: 3,
    },
    {
      address: A,
      fees_received_24h_tokens: 0,
      fees_received_7d_tokens: 0,
      fees_received_all_time_tokens: 1000,
      share_of_fees_7d_pct: 0,
      distribution_count: 1,
    },
  ])

  const seen: string[] = []
  for (let query: string | null = 'limit=1'; query !== null; ) {
    const page: Page = (await app.inject(`${URL}?${query}`)).json()
    expect(page.totals).toEqual(totals)
    seen.push(...page.stablecoins.map(({ address }) => address))
    query = page.next_cursor && `limit=1&cursor=${page.next_cursor}`
  }
  expect(seen).toEqual([C, B, A])
})

test('an account’s last choice counts, separately as user and as validator; the zero address is not a choice', async ({
  app,
  clickhouse,
}) => {
  const at = (block: number, log_index = 0) => ({ block_number: block, block_time: 1_760_000_000 + block, log_index })
  await addBlocks(clickhouse, [1_760_000_000])
  await addRows(clickhouse, {
    stablecoins: STABLES,
    fee_elections: [
      feeElection('user', account(1), A, at(1)),
      feeElection('user', account(2), A, at(1, 1)),
      feeElection('validator', account(1), B, at(1, 2)),
      // Two choices in one block: the higher log is the later one, whatever came first into the table.
      feeElection('user', account(2), C, at(2, 11)),
      feeElection('user', account(2), B, at(2, 2)),
      feeElection('user', account(3), UNTRACKED, at(2, 3)),
      feeElection('user', account(1), ZERO, at(3)),
      feeElection('validator', account(1), A, at(3, 1)),
    ],
  })
  const elected = async (asOf: number) => {
    const { totals, stablecoins }: Page = (await app.inject(`${URL}?as_of=${1_760_000_000 + asOf}`)).json()
    const counts = stablecoins.map(({ address, users_electing, validators_electing }) => [
      address,
      [users_electing, validators_electing],
    ])
    return { all: [totals.users_electing, totals.validators_electing], ...Object.fromEntries(counts) }
  }
  expect(await elected(0)).toEqual({ all: [0, 0], [A]: [0, 0], [B]: [0, 0], [C]: [0, 0] })
  expect(await elected(1)).toEqual({ all: [2, 1], [A]: [2, 0], [B]: [0, 1], [C]: [0, 0] })
  expect(await elected(2)).toEqual({ all: [3, 1], [A]: [1, 0], [B]: [0, 1], [C]: [1, 0] })
  expect(await elected(3)).toEqual({ all: [2, 1], [A]: [0, 1], [B]: [0, 0], [C]: [1, 0] })
})

test('the last ten payments come newest first, two in one block in log order, with labels where known', async ({
  app,
  clickhouse,
}) => {
  const validator = devAccount(9).address.toLowerCase()
  const at = (block_number: number, log_index = 0) => ({ block_number, block_time: 1_760_000_000, log_index })
  await addBlocks(clickhouse, [1_760_000_000])
  await addRows(clickhouse, {
    stablecoins: STABLES,
    fee_distributions: [
      ...Array.from({ length: 10 }, (_, i) => feeDistribution(B, account(i), i, at(i + 1))),
      feeDistribution(A, validator, 0.000001, at(11, 11)),
      feeDistribution(UNTRACKED, account(1), 2, at(11, 2)),
    ],
  })
  const { recent_distributions } = (await app.inject(`${URL}?as_of=1760000000`)).json()
  expect(recent_distributions).toHaveLength(10)
  expect(recent_distributions.slice(0, 3)).toEqual([
    {
      validator,
      validator_label: 'Public test account 9',
      token: A,
      token_symbol: 'S1',
      amount_tokens: 0.000001,
      block_number: 11,
      block_timestamp: '2025-10-09T08:53:20Z',
      tx_hash: txHash(11_011),
    },
    expect.objectContaining({ token: UNTRACKED, token_symbol: UNTRACKED, validator_label: null }),
    expect.objectContaining({ block_number: 10, token: B, token_symbol: 'S2', validator: account(9) }),
  ])
})

test('the past has no stable that was created later, and no answer before history', async ({ app, clickhouse }) => {
  await addBlocks(clickhouse, [1_760_000_000, 1_760_000_100])
  await addRows(clickhouse, {
    stablecoins: [stablecoin(1), stablecoin(2, { block_number: 2, block_time: 1_760_000_100 })],
  })
  const response = await app.inject(`${URL}?as_of=1760000099`)
  expect(response.json()).toMatchObject({ as_of: '2025-10-09T08:54:59Z', stablecoins: [{ address: A }] })
  expect(response.headers['x-service-as-of']).toBe('2025-10-09T08:54:59Z')
  expect((await app.inject(`${URL}?as_of=1759999999`)).json()).toMatchObject({ status: 404, parameter: 'as_of' })
})
