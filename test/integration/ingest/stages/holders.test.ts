import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { Abis } from 'viem/tempo'
import { expect } from 'vitest'
import { allStablecoins } from '../../../../clickhouse/stablecoins/stablecoins.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, POLICY_ID, role } from '../../../../local/chain/calls.js'
import { randomFor } from '../../../../local/chain/random.js'
import { createRpc } from '../../../../local/chain/rpc.js'
import { checkHolders } from '../../../../tools/verify/invariants/holders.js'
import { test } from '../../../support/app.js'
import { backfillAll } from '../../../support/backfill.js'
import { useStillChain } from '../../../support/chain.js'
import { depth } from '../../../support/depth.js'
import { ingestAll } from '../../../support/ingest.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'
import { balanceAt, mine, newToken } from '../../../support/transactions.js'

const TOKEN = 10n ** 6n

const BLOCKS_CHECKED = depth('BLOCKS_CHECKED', 4, 8)
const chain = useStillChain({ historyBlocks: 130 })

const burnBlocked = (token: Hex, from: Hex, amount: bigint) => ({
  to: token,
  data: encodeFunctionData({ abi: Abis.tip20, functionName: 'burnBlocked', args: [from, amount] }),
})

async function supplyAt(token: string, block: number): Promise<bigint> {
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'totalSupply' })
  return BigInt((await createRpc(chain.rpcUrl).call('eth_call', [{ to: token, data }, numberToHex(block)])) as Hex)
}

/** A token with every kind of transfer. */
async function transferEverything(): Promise<Hex> {
  const { issuer, sanctioned } = accounts
  const [one, other] = accounts.traders
  const { token } = await newToken(chain, 4400)
  const steps = [
    {
      from: issuer,
      calls: [
        call.grantRole(token, role.issuer, issuer.address),
        call.grantRole(token, role.burnBlocked, issuer.address),
        call.mint(token, issuer.address, 1_000n * TOKEN),
        call.mint(token, one.address, 300n * TOKEN),
        call.mint(token, sanctioned.address, 50n * TOKEN),
      ],
    },
    {
      from: one,
      calls: [call.transfer(token, one.address, 5n * TOKEN), call.transferWithMemo(token, other.address, TOKEN, 7)],
    },
    { from: one, calls: [call.setRewardRecipient(token, one.address)] },
    { from: issuer, calls: [call.distributeReward(token, 40n * TOKEN), call.changePolicy(token, POLICY_ID.sanctions)] },
    { from: issuer, calls: [burnBlocked(token, sanctioned.address, 20n * TOKEN), call.burn(token, 30n * TOKEN)] },
    { from: one, calls: [call.claimRewards(token)] },
    { from: other, calls: [call.transfer(token, one.address, TOKEN)] },
  ]
  for (const step of steps) {
    const [receipt] = await mine(chain, [step])
    expect(receipt?.status).toBe('0x1')
  }
  return token
}

test('blocks that were read without transfers get them by a backfill, and until then nobody knows the holders', async ({
  app,
  clickhouse,
  clickhouseEnv,
  clock,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head, { TRACK_HOLDERS: 'false' })
  clock.now = new Date()
  const stable = chain.plan.stables[0]?.address.toLowerCase() as string
  const tracked = async () =>
    (await app.inject('/api/v1/status')).json().datasets.some((one: { dataset: string }) => one.dataset === 'transfers')
  expect(await tracked()).toBe(false)
  // Some blocks before the newest, which may still be replaced.
  const [{ time = 0 } = {}] = await (
    await clickhouse.query({
      query: 'SELECT toUnixTimestamp(block_time) AS time FROM blocks WHERE block_number = 30',
      format: 'JSONEachRow',
    })
  ).json<{ time: number }>()
  const ask = async () => (await app.inject(`/api/v1/stablecoins/${stable}/holders?as_of=${time}`)).json()
  const before = await ask()
  expect(before).toMatchObject({ holder_count: null, coverage: { status: 'unavailable' } })
  expect(before.coverage.missing).toMatchObject([{ reason: 'not_read' }])
  await backfillAll(clickhouseEnv, chain.rpcUrl, ['--only', 'transfers'])
  await expect.poll(ask, { timeout: 5000 }).toMatchObject({ coverage: { status: 'complete' } })
  const after = await ask()
  expect(after.holder_count).toBeGreaterThan(5)
  expect(after.supply).toBe(`${await supplyAt(stable, 30)}`)
})

test('balances and supplies are those of the chain at any block, and verify finds no difference', async ({
  app,
  clickhouse,
  clickhouseEnv,
  clock,
}) => {
  const token = await transferEverything()
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  clock.now = new Date()
  const found = await clickhouse.query({
    query:
      'SELECT toUInt32(max(block_number)) AS number, toUnixTimestamp(block_time) AS time FROM blocks GROUP BY block_time ORDER BY time',
    format: 'JSONEachRow',
  })
  // The last block of each second.
  const blocks = await found.json<{ number: number; time: number }>()
  const stables = await allStablecoins(clickhouse, { before_block: chain.head + 1 })
  const ofGenesis = stables.filter(({ block_number }) => block_number === 0)
  const made = stables.filter(({ block_number }) => block_number > 0)
  expect(made.map(({ stable }) => stable)).toContain(token)
  const ask = async (stable: string, at: number) =>
    (await app.inject(`/api/v1/stablecoins/${stable}/holders?limit=100&as_of=${at}`)).json()

  const random = randomFor(44, 'balances')
  let compared = 0
  for (const { number, time } of [
    ...Array.from({ length: BLOCKS_CHECKED }, () => random.pick(blocks)),
    blocks.at(-1) as { number: number; time: number },
  ])
    for (const { stable, block_number } of made.filter((one) => one.block_number <= number)) {
      const answer = await ask(stable, time)
      const about = `${stable}, made in ${block_number}, at block ${number}`
      expect(answer.coverage.status, about).toBe('complete')
      expect(answer.supply, about).toBe(`${await supplyAt(stable, number)}`)
      expect(answer.top_holders.length, about).toBe(answer.holder_count)
      for (const { address, balance } of answer.top_holders) {
        expect(balance, `${address}: ${about}`).toBe(`${await balanceAt(chain, stable, address, number)}`)
        compared++
      }
    }
  expect(compared).toBeGreaterThan(25 * BLOCKS_CHECKED)
  // Some of their supply was there before the first block.
  expect(ofGenesis.length).toBeGreaterThan(0)
  for (const { stable } of ofGenesis)
    expect(await ask(stable, blocks.at(-1)?.time ?? 0)).toMatchObject({
      holder_count: null,
      coverage: { status: 'unavailable' },
    })

  const verified = async () =>
    checkHolders({
      clickhouse,
      rpc: rpcOf(chain.rpcUrl),
      stables,
      ranges: [{ first: { number: 1 }, last: await blockIdOf(chain.rpcUrl, chain.head) }],
      seed: 1,
    })
  const statuses = async () => (await verified()).map(({ status }) => status)
  expect(await statuses()).toEqual(['match', 'match', 'match'])
  await clickhouse.command({
    query: `ALTER TABLE transfers DELETE WHERE stable = '${token}' AND kind = 'burn' SETTINGS mutations_sync = 1`,
  })
  expect(await statuses()).toEqual(['mismatch', 'mismatch', 'match'])
})
