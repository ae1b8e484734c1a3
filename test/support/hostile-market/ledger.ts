import { decodeAbiParameters, type Hex, numberToHex, toFunctionSelector } from 'viem'
import { Addresses } from 'viem/tempo'
import { createRpc, type Rpc, type RpcCall } from '../../../local/chain/rpc.js'
import { quoteAt } from './market.js'
import { type RawReceipt, type Trade, tradesOf } from './trades.js'

/**
 * A ledger of a chain that is written from docs/methodology/ alone: it reads receipts, balances, supplies and quotes
 * over raw RPC, and shares no code with the service.
 */
export type Ledger = {
  head: number
  /** Unix seconds of each block, from block 0. */
  times: number[]
  receipts: RawReceipt[][]
  /** Of each listed stable at each block: what one token sells for in millionths of a dollar, null if nothing. */
  prices: Map<string, (number | null)[]>
  supplies: Map<string, bigint[]>
  flows: LedgerFlow[]
}
/** A trade with its value in millionths of a dollar; null if it has none. */
type LedgerFlow = Trade & { block: number; time: number; usd_micros: bigint | null }

const ONE_TOKEN = 1_000_000n
const CALLS_PER_BATCH = 100

/** The first word of each answer; null where the node refuses the call. */
async function words(rpc: Rpc, calls: readonly RpcCall[]): Promise<(bigint | null)[]> {
  const found: (bigint | null)[] = []
  for (let i = 0; i < calls.length; i += CALLS_PER_BATCH) {
    for (const answer of await rpc.attempt(calls.slice(i, i + CALLS_PER_BATCH))) {
      const data = 'result' in answer ? (answer.result as Hex) : '0x'
      found.push(data.length < 66 ? null : (decodeAbiParameters([{ type: 'uint256' }], data)[0] as bigint))
    }
  }
  return found
}

const ethCall = (to: string, data: string, block: number): RpcCall => ['eth_call', [{ to, data }, numberToHex(block)]]
const word = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')

/** An account's balance of a token at the end of each block, from block 0. */
export const balancesOf = (rpcUrl: string, head: number, token: string, account: string) =>
  words(
    createRpc(rpcUrl),
    blocks(head).map((block) => ethCall(token, `${toFunctionSelector('balanceOf(address)')}${word(account)}`, block)),
  )

const blocks = (head: number): number[] => Array.from({ length: head + 1 }, (_, block) => block)

/** Reads the ledger of a chain up to block `head`. */
export async function readLedger(rpcUrl: string, head: number, listed: readonly string[]): Promise<Ledger> {
  const rpc = createRpc(rpcUrl)
  const all = blocks(head)
  const headers = await rpc.batch(all.map((n): RpcCall => ['eth_getBlockByNumber', [numberToHex(n), false]]))
  const times = headers.map((header) => Number((header as { timestamp: Hex }).timestamp))
  const receipts: RawReceipt[][] = []
  for (const n of all) receipts.push((await rpc.call('eth_getBlockReceipts', [numberToHex(n)])) as RawReceipt[])

  const prices = new Map<string, (number | null)[]>()
  const supplies = new Map<string, bigint[]>()
  for (const stable of listed) {
    const sale = `${toFunctionSelector('quoteSwapExactAmountIn(address,address,uint128)')}${word(stable)}${word(Addresses.pathUsd)}${word(ONE_TOKEN)}`
    const quotes = await words(
      rpc,
      all.map((n) => ethCall(Addresses.stablecoinDex, sale, n)),
    )
    const isReference = stable === Addresses.pathUsd
    prices.set(
      stable,
      quotes.map((quote) => (isReference ? Number(ONE_TOKEN) : quote === null ? null : Number(quote))),
    )
    const supply = await words(
      rpc,
      all.map((n) => ethCall(stable, toFunctionSelector('totalSupply()'), n)),
    )
    supplies.set(
      stable,
      supply.map((amount) => amount ?? 0n),
    )
  }

  const flows: LedgerFlow[] = []
  for (const block of all) {
    for (const receipt of receipts[block] ?? []) {
      for (const trade of tradesOf(receipt)) {
        const usd_micros = await worthOf(rpc, trade, block, prices)
        flows.push({ ...trade, block, time: times[block] as number, usd_micros })
      }
    }
  }
  return { head, times, receipts, prices, supplies, flows }
}

/**
 * The lesser of what was given and what was got. A listed stable counts at its price, an unlisted one at most at what
 * the exchange pays for that very amount; without a listed stable that has a price there is no value,
 * nor where nobody knows who traded with whom.
 */
async function worthOf(
  rpc: Rpc,
  trade: Trade,
  block: number,
  prices: ReadonlyMap<string, readonly (number | null)[]>,
): Promise<bigint | null> {
  if (!trade.isClear) return null
  let least: bigint | null = null
  let isListed = false
  for (const { token, amount } of [trade.gave, trade.got]) {
    const own = prices.get(token)
    const price = own?.[block] ?? null
    const worth = own
      ? price === null
        ? null
        : (amount * BigInt(price)) / ONE_TOKEN
      : await quoteAt(rpc, block, token, Addresses.pathUsd, amount)
    isListed ||= own !== undefined && price !== null
    if (worth !== null && (least === null || worth < least)) least = worth
  }
  return isListed ? least : null
}
