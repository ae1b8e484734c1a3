import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeErrorResult,
  encodeFunctionResult,
  type Hex,
  multicall3Abi,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { expect, test } from 'vitest'
import { TIP20, TIP403 } from '../../../../ingest/chain/abis.js'
import type { Rpc } from '../../../../ingest/sources/rpc.js'
import { readStates } from '../../../../ingest/sources/states.js'

const stableOf = (policyId: bigint): string => `0x20c0${policyId.toString(16).padStart(36, '0')}`
const ADMIN = `0x${'ad'.repeat(20)}`
const BLOCK = { number: 9, hash: `0x${'9'.repeat(64)}`, time: 1_790_000_000 }
const REVERT = encodeErrorResult({ abi: parseAbi(['error PolicyNotFound()']), errorName: 'PolicyNotFound' })

/** A node at which each stable has the policy of its address, and the registry answers about them as given. */
function nodeWith(policyData: (id: bigint) => { success: boolean; returnData: Hex }): Rpc {
  const answerOf = (target: string, callData: Hex): { success: boolean; returnData: Hex } => {
    if (!target.startsWith('0x20c0')) {
      const { args } = decodeFunctionData({ abi: TIP403, data: callData })
      return policyData(args[0])
    }
    const { functionName } = decodeFunctionData({ abi: TIP20, data: callData })
    const value =
      functionName === 'paused' ? 0n : functionName === 'transferPolicyId' ? BigInt(`0x${target.slice(6)}`) : 7n
    return { success: true, returnData: encodeAbiParameters(parseAbiParameters('uint256'), [value]) }
  }
  const request = async (_: string, [{ data }]: [{ data: Hex }]) => {
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [
      { target: string; callData: Hex }[],
    ]
    const result = calls.map(({ target, callData }) => answerOf(target.toLowerCase(), callData))
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  return { request } as unknown as Rpc
}
const described = (type: number) => ({
  success: true,
  returnData: encodeAbiParameters(parseAbiParameters('uint8, address'), [type, ADMIN as Hex]),
})

test('a policy of a type that a later fork adds, or that the registry does not describe, is unknown, and the rest is read', async () => {
  const node = nodeWith((id) => (id === 9n ? { success: false, returnData: REVERT } : described(Number(id))))
  const states = await readStates(node, [0n, 1n, 2n, 7n, 9n].map(stableOf), BLOCK)
  expect(states.map(({ policy_type, policy_admin }) => [policy_type, policy_admin])).toEqual([
    ['reject_all', null],
    ['allow_all', null],
    ['compound', ADMIN],
    ['unknown', ADMIN],
    ['unknown', null],
  ])
  expect(states.every(({ supply_raw }) => supply_raw === '7')).toBe(true)
})

test('an answer about a policy that is none is read again, not stored', async () => {
  for (const returnData of ['0x', '0x01'] as const)
    await expect(
      readStates(
        nodeWith(() => ({ success: returnData !== '0x', returnData })),
        [stableOf(5n)],
        BLOCK,
      ),
    ).rejects.toThrow('policyData')
})
