import { numberToHex, toEventSelector } from 'viem'
import { Addresses } from 'viem/tempo'
import { createRpc } from '../../local/chain/rpc.js'
import { type RpcTransaction, type SwapCall, swapCalls } from '../../local/chain/swap-calls.js'
import type { TestChain } from './own-chain.js'

type Net = Record<string, string>
type Signed = { calls: SwapCall[]; trader: string; net: Net }
type RawLog = { address: string; topics: string[]; data: string }

const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const addressIn = (topic = ''): string => `0x${topic.slice(-40)}`

/** The amounts by token, without those that are zero. */
export const netOf = (changes: ReadonlyArray<readonly [token: string, amount: bigint]>): Net => {
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
export async function signedSwaps({ rpcUrl, head }: Pick<TestChain, 'rpcUrl' | 'head'>): Promise<Map<string, Signed>> {
  const node = createRpc(rpcUrl)
  const ask = <Answer>(method: string, params: unknown[]) => node.call(method, params) as Promise<Answer>
  const signed = new Map<string, Signed>()
  for (let number = 1; number <= head; number++) {
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
