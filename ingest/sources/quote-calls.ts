import { encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { type QuoteStatus, REFERENCE_STABLE } from '../../clickhouse/peg/peg.js'
import { STABLECOIN_DEX } from '../chain/addresses.js'
import { RpcAnswerError } from './answers.js'
import type { Call } from './multicall.js'
import type { CallResult } from './multicall-answer.js'

const abi = Abis.stablecoinDex

/** What the DEX reverts with, and what that says about the quote. */
const STATUS_OF_REVERT = new Map<string, QuoteStatus>([
  [toFunctionSelector('InsufficientLiquidity()'), 'no_liquidity'],
  [toFunctionSelector('PairDoesNotExist()'), 'no_pair'],
  [toFunctionSelector('InvalidCurrency()'), 'not_usd'],
  [toFunctionSelector('ContractPaused()'), 'paused'],
])

/**
 * Asks what `amount` base units of a stable sell for, and what they cost, in the reference stable. The DEX goes
 * through other books by itself where that is the way.
 */
export const quoteCalls = (stable: string, amount: bigint): [sell: Call, buy: Call] => [
  {
    target: STABLECOIN_DEX,
    callData: encodeFunctionData({
      abi,
      functionName: 'quoteSwapExactAmountIn',
      args: [stable as Hex, REFERENCE_STABLE, amount],
    }),
  },
  {
    target: STABLECOIN_DEX,
    callData: encodeFunctionData({
      abi,
      functionName: 'quoteSwapExactAmountOut',
      args: [REFERENCE_STABLE, stable as Hex, amount],
    }),
  },
]

/** The answer to one side: base units of the reference stable, or null and why. A quote that is refused is an answer. */
export function quoteOf({ success, returnData }: CallResult): { status: QuoteStatus; amount: bigint | null } {
  if (!success) return { status: STATUS_OF_REVERT.get(returnData.slice(0, 10)) ?? 'failed', amount: null }
  // One uint128, whichever side was asked for.
  if (returnData.length !== '0x'.length + 64)
    throw new RpcAnswerError(`a quote is not a number: ${returnData.slice(0, 80)}`)
  return { status: 'quoted', amount: BigInt(returnData) }
}
