import { type Address, decodeFunctionData, type Hex } from 'viem'
import { Abis, Addresses } from 'viem/tempo'

/**
 * A swap as its sender requested it. `amount` is micro-units of `tokenIn` when exact in, of `tokenOut` when exact out.
 */
export type SwapCall = { tokenIn: Address; tokenOut: Address; exact: 'in' | 'out'; amount: bigint }

/** A transaction as returned by `eth_getTransactionByHash` or in a full block. One of type 0x76 has calls and no `to`. */
export type RpcTransaction = {
  to?: string | null
  input?: string
  calls?: readonly { to?: string | null; input?: string; data?: string }[]
}

/** The swaps that a transaction requests from the DEX, in order, with lower-case addresses; empty if there are none. */
export function swapCalls(transaction: RpcTransaction): SwapCall[] {
  const calls = transaction.calls ?? [transaction]
  return calls.flatMap((call): SwapCall[] => {
    const data = call.input ?? ('data' in call ? call.data : undefined)
    if (call.to?.toLowerCase() !== Addresses.stablecoinDex || !data) return []
    const { functionName, args } = decodeFunctionData({ abi: Abis.stablecoinDex, data: data as Hex })
    if (functionName !== 'swapExactAmountIn' && functionName !== 'swapExactAmountOut') return []
    const [tokenIn, tokenOut, amount] = args
    const exact = functionName === 'swapExactAmountIn' ? 'in' : 'out'
    return [{ tokenIn: lower(tokenIn), tokenOut: lower(tokenOut), exact, amount }]
  })
}

const lower = (address: Address): Address => address.toLowerCase() as Address
