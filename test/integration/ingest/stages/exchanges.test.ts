import { encodeFunctionData, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { accounts } from '../../../../local/chain/accounts.js'
import { type Call, call } from '../../../../local/chain/calls.js'
import { PATH_USD } from '../../../../local/chain/stables.js'
import { stillChain } from '../../../support/chain.js'
import { factRows } from '../../../support/fact-rows.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'
import { balanceAt, mine, type Receipt } from '../../../support/transactions.js'

let chain: TestChain
beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 30 })
})
afterAll(async () => {
  await chain?.remove()
})

const tip20 = (to: Hex, functionName: 'approve' | 'transferFrom', args: readonly unknown[]): Call => ({
  to,
  data: encodeFunctionData({ abi: Abis.tip20, functionName, args } as never),
})

test('a trade of two accounts within a transaction is a flow with the value of its lesser side; in two transactions it is not', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const [buyer, seller] = accounts.traders
  if (!buyer || !seller) throw new Error('the market has two traders')
  const stable = chain.plan.stables[0]?.address as Hex
  const path = PATH_USD.address as Hex
  const take = (amount: bigint) => tip20(stable, 'transferFrom', [seller.address, buyer.address, amount])
  await mine(chain, [{ from: seller, calls: [tip20(stable, 'approve', [buyer.address, 10_000_000n])] }])
  const before = chain.head
  const [trade] = (await mine(chain, [
    { from: buyer, calls: [call.transfer(path, seller.address, 1_234_567n), take(1_234_000n)] },
  ])) as [Receipt]
  const [paid, taken] = (await mine(chain, [
    { from: buyer, calls: [call.transfer(path, seller.address, 500_000n)] },
    { from: buyer, calls: [take(500_000n)] },
  ])) as [Receipt, Receipt]
  expect([trade, paid, taken].map(({ status }) => status)).toEqual(['0x1', '0x1', '0x1'])
  // The seller pays no fee here, so its balances show the trade alone.
  const change = async (token: Hex) =>
    (await balanceAt(chain, token, seller.address, before + 1)) -
    (await balanceAt(chain, token, seller.address, before))
  const [got, gave] = [await change(path), -(await change(stable))]
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)

  const hashes = [trade, paid, taken].map(({ transactionHash }) => transactionHash)
  const flows = await factRows(clickhouse, 'flows', hashes)
  const sold = `SELECT sell_micros FROM peg_samples WHERE stable = '${stable}' AND block_number = ${trade.blockNumber}`
  const [sample] = await (await clickhouse.query({ query: sold, format: 'JSONEachRow' })).json<{
    sell_micros: number
  }>()
  const worth = (gave * BigInt(sample?.sell_micros ?? 0)) / 1_000_000n
  // The reference stable is worth one dollar.
  const value = worth < got ? worth : got
  expect(flows.map((flow) => JSON.parse(JSON.stringify(flow)))).toEqual([
    {
      kind: 'transfer',
      from_token: path,
      to_token: stable,
      account: buyer.address.toLowerCase(),
      amount_in_raw: got.toString(),
      amount_out_raw: gave.toString(),
      usd_micros: `${value}`,
      path: [path, stable],
      remote_chain: null,
      block_number: trade.blockNumber,
      log_index: trade.logs[1]?.logIndex,
      tx_hash: trade.transactionHash,
    },
  ])
})
