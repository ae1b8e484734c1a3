import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { z } from 'zod'
import { registeredPolicyType } from '../../clickhouse/stablecoins/newest-states.js'
import type { StateRead } from '../../clickhouse/stablecoins/states.js'
import { TIP20, TIP403 } from '../chain/abis.js'
import { TIP403_REGISTRY } from '../chain/addresses.js'
import { RpcAnswerError } from '../chain/rpc-answers.js'
import { type BlockId, type CallResult, runCalls } from './multicall.js'
import type { Rpc } from './rpc.js'

const READS = ['totalSupply', 'supplyCap', 'paused', 'transferPolicyId'] as const
// The reads of TIP-20 rewards. The chain has ended rewards, so a later fork may remove these functions.
const REWARD_READS = ['optedInSupply', 'globalRewardPerToken'] as const
const READ_CALLS = [...READS, ...REWARD_READS].map((functionName) => encodeFunctionData({ abi: TIP20, functionName }))

const NO_ADMIN = '0x0000000000000000000000000000000000000000'
// TIP-403: policies 0 and 1 are built in; the others have a type of the registry.
const BUILT_IN = new Map<bigint, StateRead['policy_type']>([
  [0n, 'reject_all'],
  [1n, 'allow_all'],
])

const State = z.tuple([z.bigint(), z.bigint(), z.boolean(), z.bigint()])
const Reward = z.bigint()
const Policy = z.tuple([z.int(), z.string()])

type Block = BlockId & { time: number }

function answer(abi: typeof TIP20 | typeof TIP403, functionName: string, result: CallResult | undefined): unknown {
  if (!result?.success) throw new RpcAnswerError(`${functionName} failed`)
  try {
    return decodeFunctionResult({ abi, functionName, data: result.returnData } as never)
  } catch {
    throw new RpcAnswerError(`${functionName} returned an unexpected answer`)
  }
}

/** A read that may fail permanently: null in that case. */
const reward = (functionName: string, result: CallResult | undefined): string | null =>
  result?.success === false ? null : Reward.parse(answer(TIP20, functionName, result)).toString()

/** Whether a call ended with a reason; one that ran out of gas has none. */
const isRevert = ({ success, returnData }: CallResult): boolean => !success && returnData !== '0x'

const POLICY_ID_CALL = encodeFunctionData({ abi: TIP20, functionName: 'transferPolicyId' })

/** The transfer policy that each of `stables` has at the end of a block, in their order. Rejects as `readStates` does. */
export async function readPolicyIds(rpc: Rpc, stables: readonly string[], block: BlockId): Promise<bigint[]> {
  const calls = stables.map((target) => ({ target, callData: POLICY_ID_CALL }))
  const results = await runCalls(rpc, calls, block)
  return results.map((result) => z.bigint().parse(answer(TIP20, 'transferPolicyId', result)))
}

/**
 * Supply, cap, pause, transfer policy and rewards of each of `stables` at the end of a block, in their order. A policy that
 * the registry does not describe, or describes by a type that is not known here, has the type `unknown`. Rejects
 * with StateUnavailableError if the node no longer has the state.
 */
export async function readStates(rpc: Rpc, stables: readonly string[], block: Block): Promise<StateRead[]> {
  const calls = stables.flatMap((target) => READ_CALLS.map((callData) => ({ target, callData })))
  const results = await runCalls(rpc, calls, block)
  const resultsOf = stables.map((_, i) => results.slice(i * READ_CALLS.length, (i + 1) * READ_CALLS.length))
  const states = resultsOf.map((stableResults) =>
    State.parse(READS.map((read, j) => answer(TIP20, read, stableResults[j]))),
  )
  const policyIds = [...new Set(states.map(([, , , id]) => id))].filter((id) => !BUILT_IN.has(id))
  const policyCalls = policyIds.map((id) => ({
    target: TIP403_REGISTRY,
    callData: encodeFunctionData({ abi: TIP403, functionName: 'policyData', args: [id] }) as Hex,
  }))
  const policies = new Map(
    (await runCalls(rpc, policyCalls, block)).map((result, i) => [
      policyIds[i],
      isRevert(result) ? null : Policy.parse(answer(TIP403, 'policyData', result)),
    ]),
  )
  return states.map(([supply, cap, paused, id], i) => {
    const [optedIn, rewardPerToken] = REWARD_READS.map((read, j) => reward(read, resultsOf[i]?.[READS.length + j]))
    const [type, admin] = policies.get(id) ?? []
    return {
      stable: stables[i] as string,
      supply_raw: supply.toString(),
      cap_raw: cap.toString(),
      paused,
      policy_id: id.toString(),
      policy_type: BUILT_IN.get(id) ?? registeredPolicyType(type ?? -1),
      policy_admin: admin === undefined || admin === NO_ADMIN ? null : admin.toLowerCase(),
      opted_in_raw: optedIn ?? null,
      reward_per_token_raw: rewardPerToken ?? null,
      block_number: block.number,
      block_time: block.time,
    }
  })
}
