import { type Address, decodeFunctionResult, encodeFunctionData, getAbiItem, type Hex, toEventSelector } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { z } from 'zod'
import { accounts } from './accounts.js'
import { type Books, emptyBooks } from './books.js'
import type { MarketPlan } from './plan.js'
import type { Rpc } from './rpc.js'

const abi = Abis.stablecoinDex
const Logs = z.array(z.object({ topics: z.array(z.custom<Hex>()) }))
const topic = {
  placed: toEventSelector(getAbiItem({ abi, name: 'OrderPlaced' })),
  cancelled: toEventSelector(getAbiItem({ abi, name: 'OrderCancelled' })),
  filled: toEventSelector(getAbiItem({ abi, name: 'OrderFilled' })),
}
/** Calls of getOrder in one batch. */
const ORDERS_PER_BATCH = 200

/**
 * The next nonce of each of the market's accounts after the newest block; with `pending`, after what the node has
 * accepted for the next block.
 */
export async function readNonces(rpc: Rpc, at: 'latest' | 'pending' = 'latest'): Promise<Map<Address, number>> {
  const everyone = [...Object.values(accounts).flat()].map((a) => a.address)
  const counts = await rpc.batch(everyone.map((address) => ['eth_getTransactionCount', [address, at]] as const))
  return new Map(everyone.map((address, i) => [address, Number(counts[i])]))
}

/** The market's orders as they are on the chain, from which the market continues after a restart. */
export async function readBooks(rpc: Rpc, plan: MarketPlan): Promise<Books> {
  const books = emptyBooks()
  const ids = await openOrderIds(rpc)
  const bookKeys = await readBookKeys(rpc, plan)
  for (let at = 0; at < ids.length; at += ORDERS_PER_BATCH) {
    const some = ids.slice(at, at + ORDERS_PER_BATCH)
    const answers = await rpc.attempt(some.map((id) => ['eth_call', [dexCall('getOrder', [id]), 'latest']] as const))
    for (const answer of answers) {
      // The DEX does not know orders that were filled.
      if ('error' in answer) continue
      const order = decodeFunctionResult({ abi, functionName: 'getOrder', data: answer.result as Hex })
      const symbol = bookKeys.get(order.bookKey)
      if (!symbol) continue
      if (order.maker.toLowerCase() === accounts.flipMaker.address.toLowerCase()) {
        books.flips.push(order.orderId)
      } else {
        const { orderId: id, isBid, tick, amount, remaining } = order
        books.ladders.set(symbol, [...(books.ladders.get(symbol) ?? []), { id, isBid, tick, amount, remaining }])
      }
    }
  }
  return books
}

/** Orders of the market that were placed and not cancelled. Few of them were completely filled. */
async function openOrderIds(rpc: Rpc): Promise<bigint[]> {
  const makers = [accounts.maker, accounts.flipMaker].map(
    (a) => `0x${a.address.slice(2).toLowerCase().padStart(64, '0')}`,
  )
  const range = { fromBlock: '0x0', toBlock: 'latest', address: Addresses.stablecoinDex }
  const [placed, cancelled, filled] = await rpc.batch([
    ['eth_getLogs', [{ ...range, topics: [topic.placed, null, makers] }]],
    ['eth_getLogs', [{ ...range, topics: [topic.cancelled] }]],
    // Only others fill the market maker's orders completely, while the flip maker's always are.
    ['eth_getLogs', [{ ...range, topics: [topic.filled, null, makers[1]] }]],
  ])
  const id = (log: { topics: Hex[] }): bigint => BigInt(log.topics[1] as Hex)
  const gone = new Set([...Logs.parse(cancelled), ...Logs.parse(filled)].map(id))
  return Logs.parse(placed)
    .map(id)
    .filter((order) => !gone.has(order))
}

async function readBookKeys(rpc: Rpc, plan: MarketPlan): Promise<Map<Hex, string>> {
  const listed = plan.tokens.filter((t) => t.hasPair)
  const keys = await rpc.batch(
    listed.map((t) => {
      const quote = plan.routeToPathUsd(t.symbol)[1]?.address ?? Addresses.pathUsd
      return ['eth_call', [dexCall('pairKey', [t.address, quote]), 'latest']] as const
    }),
  )
  return new Map(listed.map((t, i) => [keys[i] as Hex, t.symbol]))
}

function dexCall(functionName: 'getOrder' | 'pairKey', args: readonly unknown[]): { to: Address; data: Hex } {
  return { to: Addresses.stablecoinDex, data: encodeFunctionData({ abi, functionName, args } as never) }
}
