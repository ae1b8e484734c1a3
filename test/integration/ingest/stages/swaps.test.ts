import { createClient, http, numberToHex, toEventSelector } from 'viem'
import { Addresses } from 'viem/tempo'
import { afterAll, beforeAll, expect } from 'vitest'
import { type RpcTransaction, type SwapCall, swapCalls } from '../../../../local/chain/swap-calls.js'
import { stillChain } from '../../../support/chain.js'
import { ingestAll } from '../../../support/ingest.js'
import type { TestChain } from '../../../support/own-chain.js'
import { test } from '../../../support/services.js'

let chain: TestChain

beforeAll(async () => {
  chain = await stillChain({ historyBlocks: 240 })
})
afterAll(async () => {
  await chain?.remove()
})

type StoredFlow = {
  tx_hash: string
  account: string
  from_token: string
  to_token: string
  amount_in_raw: string
  amount_out_raw: string
  path: string[]
}

type Net = Record<string, string>
type Signed = { calls: SwapCall[]; trader: string; net: Net }
type RawLog = { address: string; topics: string[]; data: string }

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const addressIn = (topic = ''): string => `0x${topic.slice(-40)}`

/** The amounts by token, without those that are zero. */
const netOf = (changes: ReadonlyArray<readonly [token: string, amount: bigint]>): Net => {
  const sums = new Map<string, bigint>()
  for (const [token, amount] of changes) sums.set(token, (sums.get(token) ?? 0n) + amount)
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).map(([token, sum]) => [token, `${sum}`]))
}

/** What the logs of a transaction took from an account's balance and added to it, without the fee. */
const balanceChange = (logs: readonly RawLog[], account: string): Net =>
  netOf(
    logs.flatMap(({ address, topics: [topic, from, to], data }) => {
      if (topic !== TRANSFER || addressIn(to) === Addresses.feeManager) return []
      const sign = BigInt(addressIn(to) === account) - BigInt(addressIn(from) === account)
      return [[address, sign * BigInt(data)] as const]
    }),
  )

/** The swaps of every transaction that succeeded, as its sender signed them, by transaction hash. */
async function signedSwaps(): Promise<Map<string, Signed>> {
  const node = createClient({ transport: http(chain.rpcUrl) })
  const ask = <Answer>(method: string, params: unknown[]): Promise<Answer> => node.request({ method, params } as never)
  const signed = new Map<string, Signed>()
  for (let number = 1; number <= chain.head; number++) {
    const [block, receipts] = await Promise.all([
      ask<{ transactions: Array<RpcTransaction & { hash: string; from: string }> }>('eth_getBlockByNumber', [
        numberToHex(number),
        true,
      ]),
      ask<Array<{ transactionHash: string; status: string; logs: RawLog[] }>>('eth_getBlockReceipts', [
        numberToHex(number),
      ]),
    ])
    const succeeded = new Map(
      receipts.filter(({ status }) => status === '0x1').map(({ transactionHash, logs }) => [transactionHash, logs]),
    )
    for (const transaction of block.transactions) {
      const calls = swapCalls(transaction)
      const logs = succeeded.get(transaction.hash)
      if (calls.length === 0 || !logs) continue
      const trader = transaction.from.toLowerCase()
      signed.set(transaction.hash, { calls, trader, net: balanceChange(logs, trader) })
    }
  }
  return signed
}

test('every swap reconstructed from logs is the swap that its sender signed, and none is missing', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head)
  const answer = await clickhouse.query({
    query: `SELECT tx_hash, account, from_token, to_token, toString(amount_in_raw) AS amount_in_raw, toString(amount_out_raw) AS amount_out_raw, path
            FROM flows WHERE kind = 'swap' ORDER BY block_number, log_index`,
    format: 'JSONEachRow',
  })
  const rebuilt = new Map<string, StoredFlow[]>()
  for (const flow of await answer.json<StoredFlow>())
    rebuilt.set(flow.tx_hash, [...(rebuilt.get(flow.tx_hash) ?? []), flow])

  const signed = await signedSwaps()
  const single = [...signed].filter(([, { calls }]) => calls.length === 1)
  const asSigned = single.map(([hash, { calls, trader }]) => [
    hash,
    calls.map(({ tokenIn, tokenOut, exact, amount }) => ({ trader, tokenIn, tokenOut, [exact]: amount.toString() })),
  ])
  const asRebuilt = single.map(([hash, { calls }]) => [
    hash,
    (rebuilt.get(hash) ?? []).map((flow, i) => ({
      trader: flow.account,
      tokenIn: flow.from_token,
      tokenOut: flow.to_token,
      ...(calls[i]?.exact === 'in' ? { in: flow.amount_in_raw } : { out: flow.amount_out_raw }),
    })),
  ])
  expect(asRebuilt).toEqual(asSigned)
  expect([...rebuilt.keys()].filter((hash) => !signed.has(hash))).toEqual([])

  // What each transaction's flows gave and got is what its trader's balances lost and gained, to the base unit.
  const flowed = [...signed.keys()].map((hash) => [
    hash,
    netOf(
      (rebuilt.get(hash) ?? []).flatMap((flow) => [
        [flow.from_token, -BigInt(flow.amount_in_raw)] as const,
        [flow.to_token, BigInt(flow.amount_out_raw)] as const,
      ]),
    ),
  ])
  expect(flowed).toEqual([...signed].map(([hash, { net }]) => [hash, net]))

  // The market has every kind: one to three hops, each exact in and exact out, and two swaps in one transaction.
  const kinds = new Set(
    single.map(([hash, { calls }]) => `${(rebuilt.get(hash)?.[0]?.path.length ?? 0) - 1} ${calls[0]?.exact}`),
  )
  expect([...kinds].sort()).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out'])
  expect([...signed.values()].some(({ calls }) => calls.length === 2)).toBe(true)
})
