import { decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi, numberToHex } from 'viem'
import { MULTICALL3 } from '../chain/addresses.js'
import { Bytes, RpcAnswerError } from './answers.js'
import type { Rpc } from './rpc.js'

export type Call = { target: string; callData: Hex }
/** `returnData` is the call's answer, or the revert's data when `success` is false. */
export type CallResult = { success: boolean; returnData: Hex }

/** What eth_call takes to run several calls. */
export type CallRequest = { to: string; data: Hex }

/** Runs all `calls` in one eth_call and lets each of them fail by itself. */
export function multicallRequest(calls: readonly Call[]): CallRequest {
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map(({ target, callData }) => ({ target: target as Hex, allowFailure: true, callData }))],
  })
  return { to: MULTICALL3, data }
}

/** Runs a request of `count` calls on the state at the end of a block. One result a call, in their order. */
export async function multicall(
  rpc: Rpc,
  request: CallRequest,
  count: number,
  blockNumber: number,
): Promise<CallResult[]> {
  const answer = await rpc.request('eth_call', [request, numberToHex(blockNumber)], Bytes)
  let results: readonly CallResult[]
  try {
    results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer as Hex })
  } catch {
    throw new RpcAnswerError(`the multicall at block ${blockNumber} answered with something else`)
  }
  if (results.length !== count)
    throw new RpcAnswerError(`asked ${count} calls at block ${blockNumber}, got ${results.length} answers`)
  return [...results]
}
