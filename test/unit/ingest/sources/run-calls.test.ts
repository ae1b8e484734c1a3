import { decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { expect, test } from 'vitest'
import { type BlockId, type Call, MOST_CALLS, runCalls } from '../../../../ingest/sources/multicall.js'
import type { Rpc } from '../../../../ingest/sources/rpc.js'
import { StateUnavailableError } from '../../../../ingest/sources/state-unavailable.js'

const TARGET = `0x20c0${'0'.repeat(36)}`
const callOf = (number: number): Call => ({ target: TARGET, callData: `0x${number.toString(16).padStart(8, '0')}` })
const callsOf = (first: number, count: number): Call[] => Array.from({ length: count }, (_, i) => callOf(first + i))
const blockOf = (number: number): BlockId => ({ number, hash: `0x${number.toString(16).padStart(64, '0')}` })
/** Each call returns its own data. */
const returned = (calls: readonly Call[]) => calls.map(({ callData }) => ({ success: true, returnData: callData }))

/** A node that returns to each call its own data, and refuses blocks in `gone`; with what it was asked, by block. */
function echoingNode(gone: readonly BlockId[] = []): { rpc: Rpc; asked: [hash: string, calls: number][] } {
  const asked: [hash: string, calls: number][] = []
  const request = async (method: string, [{ data }, { blockHash }]: [{ data: Hex }, { blockHash: string }]) => {
    expect(method).toBe('eth_call')
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [{ callData: Hex }[]]
    asked.push([blockHash, calls.length])
    const block = gone.find(({ hash }) => hash === blockHash)
    if (block) throw new StateUnavailableError(block.number, new Error('gone'))
    const result = calls.map(({ callData }) => ({ success: true, returnData: callData }))
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  return { rpc: { request } as unknown as Rpc, asked }
}

test('what is asked about a block in one turn is one call to the node, and each caller has its own results', async () => {
  const { rpc, asked } = echoingNode()
  const [quotes, states, others] = [callsOf(0, 4), callsOf(100, 6), callsOf(200, 3)]
  const later = async () => {
    await Promise.resolve()
    return runCalls(rpc, states, { ...blockOf(1) })
  }
  const found = await Promise.all([
    runCalls(rpc, quotes, blockOf(1)),
    runCalls(rpc, others, blockOf(2)),
    later(),
    runCalls(rpc, [], blockOf(3)),
  ])
  expect(found).toEqual([returned(quotes), returned(others), returned(states), []])
  expect(asked).toEqual([
    [blockOf(1).hash, 10],
    [blockOf(2).hash, 3],
  ])
})

test('no call to the node has more than it bears, however many are asked together', async () => {
  const { rpc, asked } = echoingNode()
  const [many, few] = [callsOf(0, 2 * MOST_CALLS - 1), callsOf(5000, 3)]
  const found = await Promise.all([runCalls(rpc, many, blockOf(1)), runCalls(rpc, few, blockOf(1))])
  expect(found).toEqual([returned(many), returned(few)])
  expect(asked.map(([, calls]) => calls)).toEqual([MOST_CALLS, MOST_CALLS, 2])
})

test('a block whose state is gone fails for all who asked about it, and for nobody else', async () => {
  const { rpc } = echoingNode([blockOf(1)])
  const ends = await Promise.allSettled([
    runCalls(rpc, callsOf(0, 2), blockOf(1)),
    runCalls(rpc, callsOf(9, 2), blockOf(2)),
    runCalls(rpc, callsOf(5, 1), blockOf(1)),
  ])
  expect(ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason))).toEqual([
    expect.any(StateUnavailableError),
    returned(callsOf(9, 2)),
    expect.any(StateUnavailableError),
  ])
})

test('a part that fails fails those who asked for something in it, and nobody else', async () => {
  const refused = callOf(0)
  const request = async (_: string, [{ data }]: [{ data: Hex }]) => {
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [{ callData: Hex }[]]
    if (calls.some(({ callData }) => callData === refused.callData)) throw new Error('too busy')
    const result = calls.map(({ callData }) => ({ success: true, returnData: callData }))
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  const rpc = { request } as unknown as Rpc
  const ends = await Promise.allSettled([
    runCalls(rpc, callsOf(0, MOST_CALLS), blockOf(1)),
    runCalls(rpc, callsOf(1000, 5), blockOf(1)),
  ])
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('calls for which the gas was not enough are made again, and only these', async () => {
  // Each multicall has gas for ten calls. The last call never gets a result.
  const never = callOf(24)
  const made: number[] = []
  const request = async (_: string, [{ data }]: [{ data: Hex }]) => {
    const [calls] = decodeFunctionData({ abi: multicall3Abi, data }).args as unknown as [{ callData: Hex }[]]
    made.push(calls.length)
    const result = calls.map(({ callData }, i) =>
      i < 10 && callData !== never.callData
        ? { success: true, returnData: callData }
        : ({ success: false, returnData: '0x' } as const),
    )
    return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  }
  const found = await runCalls({ request } as unknown as Rpc, callsOf(0, 25), blockOf(1))
  expect(found).toEqual([...returned(callsOf(0, 24)), { success: false, returnData: '0x' }])
  expect(made).toEqual([25, 1, 14, 1, 3, 1])
})
