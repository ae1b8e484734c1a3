import { decodeFunctionResult, encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { ONE_TOKEN, type QuoteStatus, REFERENCE_STABLE } from '../../domain/peg.js'
import { STABLECOIN_DEX } from '../chain/addresses.js'
import { RpcAnswerError } from './answers.js'
import { type CallRequest, type CallResult, multicall, multicallRequest } from './multicall.js'
import type { Rpc } from './rpc.js'

/** Quotes of one token in micro-units of the reference stable. `status` tells of the sell quote. */
export type Quote = { status: QuoteStatus; sellMicros: number | null; buyMicros: number | null }

const abi = Abis.stablecoinDex

/** What the DEX reverts with, and what that says about the sell quote. */
const STATUS_OF_REVERT = new Map<string, QuoteStatus>([
  [toFunctionSelector('InsufficientLiquidity()'), 'no_liquidity'],
  [toFunctionSelector('PairDoesNotExist()'), 'no_pair'],
  [toFunctionSelector('InvalidCurrency()'), 'not_usd'],
  [toFunctionSelector('ContractPaused()'), 'paused'],
])

const sellCall = (stable: string): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'quoteSwapExactAmountIn',
    args: [stable as Hex, REFERENCE_STABLE, ONE_TOKEN],
  })
const buyCall = (stable: string): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'quoteSwapExactAmountOut',
    args: [REFERENCE_STABLE, stable as Hex, ONE_TOKEN],
  })

// The stables change seldom and the request is the same in every block.
const requests = new WeakMap<readonly string[], CallRequest>()

/** The eth_call that asks for both quotes of each stable. */
export function quotesRequest(stables: readonly string[]): CallRequest {
  const known = requests.get(stables)
  if (known) return known
  const calls = stables.flatMap((stable) => [sellCall(stable), buyCall(stable)])
  const request = multicallRequest(calls.map((callData) => ({ target: STABLECOIN_DEX, callData })))
  requests.set(stables, request)
  return request
}

function micros(functionName: 'quoteSwapExactAmountIn' | 'quoteSwapExactAmountOut', result: CallResult): number | null {
  if (!result.success) return null
  try {
    return Number(decodeFunctionResult({ abi, functionName, data: result.returnData }))
  } catch {
    throw new RpcAnswerError(`a quote is not a number: ${result.returnData.slice(0, 80)}`)
  }
}

/**
 * What one token of each stable sells for and costs on the DEX at the end of a block, in one multicall. One quote a
 * stable, in their order. The quotes route through other books by themselves. A quote the DEX refuses is an answer.
 */
export async function readQuotes(rpc: Rpc, stables: readonly string[], blockNumber: number): Promise<Quote[]> {
  if (stables.length === 0) return []
  const results = await multicall(rpc, quotesRequest(stables), stables.length * 2, blockNumber)
  return stables.map((_, i) => {
    const sell = results[2 * i] as CallResult
    const buy = results[2 * i + 1] as CallResult
    const sellMicros = micros('quoteSwapExactAmountIn', sell)
    const refusal = STATUS_OF_REVERT.get(sell.returnData.slice(0, 10)) ?? 'failed'
    return { status: sell.success ? 'quoted' : refusal, sellMicros, buyMicros: micros('quoteSwapExactAmountOut', buy) }
  })
}
