import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import type { RoleProbe } from '../../clickhouse/roles/roles.js'
import { TIP20 } from '../chain/abis.js'
import { ROLE_NAMES } from '../chain/role-names.js'
import { RpcAnswerError } from '../chain/rpc-answers.js'
import { type BlockId, type CallResult, runCalls } from './multicall.js'
import type { Rpc } from './rpc.js'

/**
 * Whether each of `accounts` holds each of TIP-20's roles of each of `stables` at the end of a block. Rejects with
 * StateUnavailableError if the node no longer has the state.
 */
export async function readRoles(
  rpc: Rpc,
  stables: readonly string[],
  accounts: readonly string[],
  block: BlockId & { time: number },
): Promise<RoleProbe[]> {
  const candidates = stables.flatMap((stable) =>
    accounts.flatMap((account) => [...ROLE_NAMES].map(([role, role_name]) => ({ stable, account, role, role_name }))),
  )
  const calls = candidates.map(({ stable, account, role }) => ({
    target: stable,
    callData: encodeFunctionData({
      abi: TIP20,
      functionName: 'hasRole',
      // The account comes first, unlike in most contracts with roles.
      args: [account as Hex, role as Hex],
    }),
  }))
  const results = await runCalls(rpc, calls, block)
  return candidates.map((probe, i) => ({
    ...probe,
    has_role: hasRole(results[i]),
    block_number: block.number,
    block_time: block.time,
  }))
}

function hasRole(result: CallResult | undefined): boolean {
  if (!result?.success) throw new RpcAnswerError('hasRole failed')
  try {
    return decodeFunctionResult({ abi: TIP20, functionName: 'hasRole', data: result.returnData as Hex })
  } catch {
    throw new RpcAnswerError('hasRole returned an unexpected answer')
  }
}
