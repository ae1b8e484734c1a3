import { toEventSelector, zeroAddress } from 'viem'
import { afterAll, beforeAll, expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { call, role } from '../../../../local/chain/calls.js'
import { stillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'
import { balanceAt, logPositions, mine, newToken, type Receipt } from '../../../support/transactions.js'

const TOKEN = 10n ** 6n
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
})

const lower = (address: string): string => address.toLowerCase()

test('rewards are distributed, redirected, claimed and forfeited as in the transactions', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const { issuer } = accounts
  const [holder, other] = accounts.traders
  const { token } = await newToken(chain, 1001)
  const send = async (from: typeof issuer, ...calls: Parameters<typeof mine>[1][number]['calls'][number][]) =>
    ((await mine(chain, [{ from, calls }])) as [Receipt])[0]
  const receipts = [
    await send(
      issuer,
      call.grantRole(token, role.issuer, issuer.address),
      call.mint(token, issuer.address, 1_000n * TOKEN),
      call.mint(token, holder.address, 300n * TOKEN),
      call.mint(token, other.address, 100n * TOKEN),
    ),
    await send(holder, call.setRewardRecipient(token, holder.address)),
    await send(other, call.setRewardRecipient(token, holder.address)),
    await send(issuer, call.distributeReward(token, 40n * TOKEN)),
    // The settlement of the other holder's share, which goes to this holder by choice.
    await send(other, call.setRewardRecipient(token, zeroAddress)),
    await send(holder, call.claimRewards(token)),
    // Nothing is left to be paid.
    await send(other, call.claimRewards(token)),
  ] as const
  expect(receipts.map(({ status }) => status)).toEqual(Array(7).fill('0x1'))
  const [, chosen, redirected, distributed, ended, claimed] = receipts
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const hashes = receipts.map(({ transactionHash }) => transactionHash)
  const RECIPIENT = toEventSelector('RewardRecipientSet(address,address)')
  expect(await factRows(clickhouse, 'reward_recipients', hashes)).toEqual([
    {
      stable: token,
      holder: lower(holder.address),
      recipient: lower(holder.address),
      ...logPositions(chosen, RECIPIENT)[0],
    },
    {
      stable: token,
      holder: lower(other.address),
      recipient: lower(holder.address),
      ...logPositions(redirected, RECIPIENT)[0],
    },
    { stable: token, holder: lower(other.address), recipient: zeroAddress, ...logPositions(ended, RECIPIENT)[0] },
  ])
  const [given] = logPositions(distributed, toEventSelector('RewardDistributed(address,uint256)'))
  expect(await factRows(clickhouse, 'reward_distributions', hashes)).toEqual([
    { stable: token, funder: lower(issuer.address), amount_raw: `${40n * TOKEN}`, ...given },
  ])
  const gained =
    (await balanceAt(chain, token, holder.address, claimed.blockNumber)) -
    (await balanceAt(chain, token, holder.address, claimed.blockNumber - 1))
  expect(gained).toBe(40n * TOKEN)
  // The first transfer of the claim; the second is the fee.
  expect(await factRows(clickhouse, 'reward_claims', hashes)).toEqual([
    { stable: token, account: lower(holder.address), amount_raw: `${gained}`, ...logPositions(claimed, TRANSFER)[0] },
  ])
})
