import { BaseError, decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import type { Rpc } from '../../ingest/sources/rpc.js'

/** The gas that a node gives an eth_call which asks for none: the default of Reth and Geth. */
const NODE_GAS = 50_000_000
/** What Multicall3 takes for itself, and before each call. */
const OVERHEAD = 700

/** What a call does: how much gas it takes, and what it returns if it has it. */
export type Cost = { gas: number; returnData: Hex }

/**
 * A node that charges for calls as the EVM does: each call of a multicall gets 63 of 64 parts of what is left, and what
 * runs out of it loses it. With the eth_calls that it was asked for, and the gas that they took.
 */
export function gasNode(costOf: (target: string, callData: Hex) => Cost): { rpc: Rpc; spent: number[] } {
  const spent: number[] = []
  const request = async (_: string, [{ data, gas }]: [{ data: Hex; gas?: Hex }]) => {
    const allowed = gas === undefined ? NODE_GAS : Math.min(NODE_GAS, Number(gas))
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [
      { target: string; callData: Hex }[],
    ]
    let left = allowed
    const result = calls.map(({ target, callData }) => {
      left -= OVERHEAD
      const given = Math.floor((left * 63) / 64)
      const cost = costOf(target.toLowerCase(), callData)
      const isEnough = cost.gas <= given
      left -= isEnough ? cost.gas : given
      return isEnough ? { success: true, returnData: cost.returnData } : ({ success: false, returnData: '0x' } as const)
    })
    spent.push(allowed - Math.max(0, left))
    if (left < 0) throw new BaseError('EVM error: OutOfGas', { details: 'EVM error: OutOfGas' })
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  return { rpc: { request } as unknown as Rpc, spent }
}
