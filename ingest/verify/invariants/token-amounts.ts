import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { RpcAnswerError } from '../../sources/answers.js'
import { type BlockId, multicallsOf, runMulticalls } from '../../sources/multicall.js'
import type { Rpc } from '../../sources/rpc.js'

export type Read =
  | { functionName: 'totalSupply'; args: readonly [] }
  | { functionName: 'balanceOf'; args: readonly [Hex] }

/** One number of each token at the end of a block, asked of the node: what it has issued, or what an account holds. */
export async function readAmounts(
  rpc: Rpc,
  tokens: readonly string[],
  read: Read,
  block: BlockId,
): Promise<Map<string, bigint>> {
  const callData = encodeFunctionData({ abi: Abis.tip20, ...read } as never)
  const results = await rpc.persist(`read ${read.functionName}`, () =>
    runMulticalls(rpc, multicallsOf(tokens.map((target) => ({ target, callData }))), block),
  )
  return new Map(
    tokens.map((token, i) => {
      const result = results[i]
      if (!result?.success) throw new RpcAnswerError(`${read.functionName} of ${token} failed`)
      const { functionName } = read
      return [token, decodeFunctionResult({ abi: Abis.tip20, functionName, data: result.returnData }) as bigint]
    }),
  )
}
