import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionResult,
  type Hex,
  multicall3Abi,
  numberToHex,
  pad,
} from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import type { T12Block } from './blocks.js'
import { isToken, quoteOf, sideOf } from './exchange.js'
import { keyOf } from './ledger.js'

const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'
const DEX = Addresses.stablecoinDex.toLowerCase()
/** `InsufficientLiquidity()`. */
const INSUFFICIENT_LIQUIDITY = '0xbb55fd27'

type Call = { target: string; callData: Hex }
type Result = { success: boolean; returnData: Hex }

const wordOf = (value: bigint): Hex => pad(numberToHex(value))
const lower = (text: string): string => text.toLowerCase()

const decoded = (abi: typeof Abis.tip20 | typeof Abis.stablecoinDex, data: Hex) => {
  try {
    return decodeFunctionData({ abi, data }) as { functionName: string; args: readonly never[] }
  } catch {
    return null
  }
}

function tokenResult({ ledger }: T12Block, token: string, callData: Hex, result: Result): Result {
  const { functionName, args } = decoded(Abis.tip20, callData) ?? { functionName: '', args: [] }
  if (!result.success || result.returnData === '0x') return result
  const changed = (by: bigint | undefined): Result => ({
    success: true,
    returnData: wordOf(BigInt(result.returnData) + (by ?? 0n)),
  })
  if (functionName === 'totalSupply') return changed(ledger.supplies.get(token))
  if (functionName === 'balanceOf') return changed(ledger.balances.get(keyOf(token, lower(args[0] as never))))
  if (functionName !== 'hasRole') return result
  const held = ledger.roles.get(keyOf(token, lower(args[0] as never), args[1] as never))
  return held === undefined ? result : { success: true, returnData: wordOf(BigInt(held)) }
}

/** A quote that the local chain refuses, because of a pause or since there is no book, is refused here too. */
function exchangeResult({ exchange }: T12Block, callData: Hex, result: Result): Result {
  const { functionName, args } = decoded(Abis.stablecoinDex, callData) ?? { functionName: '', args: [] }
  if (!result.success) return result
  if (functionName === 'getTickLevel') {
    const [base, tick, isBid] = args as unknown as [string, number, boolean]
    const quote = exchange.quotes.get(lower(base)) ?? lower(Addresses.pathUsd)
    const level = sideOf(exchange, lower(base), quote, isBid).filter((order) => order.tick === tick)
    const total = level.reduce((sum, { remaining }) => sum + remaining, 0n)
    const [head, tail] = decodeFunctionResult({ abi: Abis.stablecoinDex, functionName, data: result.returnData })
    const words = [{ type: 'uint128' }, { type: 'uint128' }, { type: 'uint128' }]
    return { success: true, returnData: encodeAbiParameters(words, [head, tail, total]) }
  }
  if (functionName !== 'quoteSwapExactAmountIn' && functionName !== 'quoteSwapExactAmountOut') return result
  const [from, to, amount] = args as unknown as [string, string, bigint]
  const exact = functionName === 'quoteSwapExactAmountIn' ? 'in' : 'out'
  const quoted = quoteOf(exchange, lower(from), lower(to), exact, amount)
  if (quoted === null) return { success: false, returnData: INSUFFICIENT_LIQUIDITY }
  return { success: true, returnData: wordOf(quoted) }
}

function resultOf(block: T12Block, { target, callData }: Call, result: Result): Result {
  const address = lower(target)
  if (address === DEX) return exchangeResult(block, callData, result)
  return isToken(address) ? tokenResult(block, address, callData, result) : result
}

/**
 * What a call returns at the end of a block of T12, if it returns `data` at that of the local chain: balances, supplies and
 * roles with what the actors did, and the exchange's quotes and levels as its orders are. Everything else is the local chain's.
 * Null if it reverts.
 */
export function answerOf(block: T12Block, { to, data }: { to: string; data: Hex }, returnData: Hex): Hex | null {
  if (lower(to) !== MULTICALL3) {
    const result = resultOf(block, { target: to, callData: data }, { success: true, returnData })
    return result.success ? result.returnData : null
  }
  const call = decodeFunctionData({ abi: multicall3Abi, data })
  if (call.functionName !== 'aggregate3') return returnData
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: returnData })
  return encodeFunctionResult({
    ...{ abi: multicall3Abi, functionName: 'aggregate3' },
    result: call.args[0].map((one, i) => resultOf(block, one, results[i] as Result)),
  })
}
