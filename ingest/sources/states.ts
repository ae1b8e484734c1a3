import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import { Abis } from 'viem/tempo'
import { z } from 'zod'
import type { StateRead } from '../../clickhouse/tables/state-reads.js'
import { TIP403_REGISTRY } from '../chain/addresses.js'
import { RpcAnswerError } from './answers.js'
import { type Call, type CallResult, multicall, multicallRequest } from './multicall.js'
import type { Rpc } from './rpc.js'

const READS = ['totalSupply', 'supplyCap', 'paused', 'transferPolicyId'] as const
const READ_CALLS = READS.map((functionName) => encodeFunctionData({ abi: Abis.tip20, functionName }))

const NO_ADMIN = '0x0000000000000000000000000000000000000000'
// TIP-403: policies 0 and 1 are built in, the others carry one of three types.
const BUILT_IN = new Map<bigint, StateRead['policy_type']>([
  [0n, 'reject_all'],
  [1n, 'allow_all'],
])
const TYPES: Record<number, StateRead['policy_type']> = { 0: 'whitelist', 1: 'blacklist', 2: 'compound' }

const State = z.tuple([z.bigint(), z.bigint(), z.boolean(), z.bigint()])
const Policy = z.tuple([z.int(), z.string()])

type Block = { number: number; time: number }

function answer(
  abi: typeof Abis.tip20 | typeof Abis.tip403Registry,
  functionName: string,
  result: CallResult | undefined,
): unknown {
  if (!result?.success) throw new RpcAnswerError(`${functionName} failed`)
  try {
    return decodeFunctionResult({ abi, functionName, data: result.returnData } as never)
  } catch {
    throw new RpcAnswerError(`${functionName} answered with something else`)
  }
}

const ask = (rpc: Rpc, calls: Call[], block: Block): Promise<CallResult[]> =>
  calls.length === 0 ? Promise.resolve([]) : multicall(rpc, multicallRequest(calls), calls.length, block.number)

/** Supply, cap, pause and transfer policy of each of `stables` at the end of a block, in their order. */
export async function readStates(rpc: Rpc, stables: readonly string[], block: Block): Promise<StateRead[]> {
  const results = await ask(
    rpc,
    stables.flatMap((target) => READ_CALLS.map((callData) => ({ target, callData }))),
    block,
  )
  const states = stables.map((_, i) =>
    State.parse(READS.map((read, j) => answer(Abis.tip20, read, results[i * READS.length + j]))),
  )
  const policyIds = [...new Set(states.map(([, , , id]) => id))].filter((id) => !BUILT_IN.has(id))
  const policyCalls = policyIds.map((id) => ({
    target: TIP403_REGISTRY,
    callData: encodeFunctionData({ abi: Abis.tip403Registry, functionName: 'policyData', args: [id] }) as Hex,
  }))
  const policies = new Map(
    (await ask(rpc, policyCalls, block)).map((result, i) => [
      policyIds[i],
      Policy.parse(answer(Abis.tip403Registry, 'policyData', result)),
    ]),
  )
  return states.map(([supply, cap, paused, id], i) => {
    const [type, admin] = policies.get(id) ?? []
    const policyType = BUILT_IN.get(id) ?? TYPES[type ?? -1]
    if (policyType === undefined) throw new RpcAnswerError(`policy ${id} is of unknown type ${type}`)
    return {
      stable: stables[i] as string,
      supply_raw: supply.toString(),
      cap_raw: cap.toString(),
      paused,
      policy_id: id.toString(),
      policy_type: policyType,
      policy_admin: admin === undefined || admin === NO_ADMIN ? null : admin.toLowerCase(),
      block_number: block.number,
      block_time: block.time,
    }
  })
}
