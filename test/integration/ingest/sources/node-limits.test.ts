import { encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { Abis, Addresses } from 'viem/tempo'
import { describe, expect } from 'vitest'
import { z } from 'zod'
import type { CallOutcome } from '../../../../clickhouse/chain/node-calls.js'
import { MULTICALL3 } from '../../../../ingest/chain/addresses.js'
import { MOST_CALLS, multicallOf, runCalls } from '../../../../ingest/sources/multicall.js'
import { readDepths, readQuotes } from '../../../../ingest/sources/quotes.js'
import { StateUnavailableError } from '../../../../ingest/sources/state-unavailable.js'
import { readStates } from '../../../../ingest/sources/states.js'
import { accounts } from '../../../../local/chain/accounts.js'
import { call } from '../../../../local/chain/calls.js'
import { test } from '../../../support/bare-chain.js'
import { faultyNode } from '../../../support/faulty-node.js'
import { blockIdOf, rpcOf } from '../../../support/rpc.js'

const ALPHA = '0x20c0000000000000000000000000000000000001'
const TOKEN = 10n ** 6n

describe('a state that the node has pruned', () => {
  test('is a separate error that is not retried, for every kind of read', async ({ bareChain }) => {
    const chain = await bareChain({ prunesStates: true })
    for (let i = 0; i < 5; i++) await chain.mine()
    const rpc = rpcOf(chain.rpcUrl)
    const reads = (block: Awaited<ReturnType<typeof blockIdOf>>): Promise<unknown>[] => [
      readQuotes(rpc, [ALPHA], block),
      readDepths(rpc, [ALPHA], block),
      readStates(rpc, [ALPHA], block),
    ]
    for (const read of reads(await blockIdOf(chain.rpcUrl, 3))) {
      await expect(read).rejects.toThrow(StateUnavailableError)
      await expect(read).rejects.toMatchObject({ retryable: false, message: expect.stringContaining('block 3') })
    }
    for (const read of reads(await blockIdOf(chain.rpcUrl, 5))) expect(await read).not.toEqual([])
  })

  test('is not the error of a node that lags behind', async ({ bareChain }) => {
    const chain = await bareChain()
    await chain.mine()
    const read = readQuotes(rpcOf(chain.rpcUrl), [ALPHA], { number: 9, hash: `0x${'9'.repeat(64)}` })
    await expect(read).rejects.toThrow('not found')
    await expect(read).rejects.not.toThrow(StateUnavailableError)
  })
})

test('a call that a pruning or a limited node refuses is counted as that', async ({ bareChain, onTestFinished }) => {
  const chain = await bareChain({ prunesStates: true })
  for (let i = 0; i < 12; i++) await chain.mine()
  const limited = await faultyNode(chain.rpcUrl, () => 'limited-logs')
  onTestFinished(limited.close)
  const outcomes: string[] = []
  const observer = {
    called: (method: string, outcome: CallOutcome) => outcomes.push(`${method} ${outcome}`),
    retried: () => undefined,
  }
  const rpc = rpcOf(limited.url, observer)
  await expect(readQuotes(rpc, [ALPHA], await blockIdOf(chain.rpcUrl, 3))).rejects.toThrow(StateUnavailableError)
  const logs = (toBlock: Hex) => rpc.request('eth_getLogs', [{ fromBlock: '0x1', toBlock }], z.array(z.unknown()))
  await expect(logs('0xa')).rejects.toThrow('exceeds max block range')
  await logs('0x9')
  // The newest block number tells a state that is gone from one that is not there yet.
  expect(outcomes).toEqual(['eth_blockNumber ok', 'eth_call no_state', 'eth_getLogs too_large', 'eth_getLogs ok'])
})

describe('more calls than the node accepts at once', () => {
  const { maker } = accounts
  const quote = (amount: bigint) => ({
    target: Addresses.stablecoinDex as Hex,
    allowFailure: true,
    callData: encodeFunctionData({
      abi: Abis.stablecoinDex,
      functionName: 'quoteSwapExactAmountIn',
      args: [ALPHA, Addresses.pathUsd, amount],
    }),
  })
  // Five quotes per call, so that our 250 calls are 1,250 to the node.
  const calls = Array.from({ length: 300 }, (_, i) => ({
    target: MULTICALL3 as string,
    callData: encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [Array.from({ length: 5 }, (_, j) => quote(BigInt(i + j + 1) * TOKEN))],
    }),
  }))

  test('are split until they are accepted, and each has its own result', async ({ bareChain }) => {
    const chain = await bareChain({ gasLimit: 7_000_000 })
    const bid = { amount: 500n * TOKEN, isBid: true, tick: -100 }
    await chain.mine([
      { label: 'bid', from: maker, calls: [call.approveDex(Addresses.pathUsd), call.place(ALPHA, bid)] },
    ])
    const undivided = chain.rpc
      .call('eth_call', [multicallOf(calls.slice(0, MOST_CALLS)), '0x1'])
      .then(() => 'has an answer')
    await expect(undivided).rejects.toThrow('OutOfGas')

    const results = await runCalls(rpcOf(chain.rpcUrl), calls, await blockIdOf(chain.rpcUrl, 1))
    const alone = await chain.rpc.batch(
      calls.map(({ target, callData }) => ['eth_call', [{ to: target, data: callData }, '0x1']] as const),
    )
    expect(results).toEqual(alone.map((returnData) => ({ success: true, returnData })))
    expect(new Set(alone).size).toBe(300)
  })
})
