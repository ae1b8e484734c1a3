import { decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi, numberToHex } from 'viem'
import { Abis } from 'viem/tempo'
import { expect, test } from 'vitest'
import { quoteCallsOf, readDepths, readQuotes } from '../../../../ingest/sources/quotes.js'
import type { Rpc } from '../../../../ingest/sources/rpc.js'

/** A node that answers every call of a multicall with the next of these amounts. */
function nodeOf(amounts: readonly bigint[]): Rpc {
  const result = amounts.map((amount) => ({ success: true, returnData: numberToHex(amount, { size: 32 }) }))
  const data: Hex = encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
  return { request: async () => data } as unknown as Rpc
}
const BLOCK = { number: 7, hash: `0x${'7'.repeat(64)}`, time: 420 }

test('a quote below a half or above two is a status and not a price, however large', async () => {
  const stables = ['0xa', '0xb', '0xc', '0xd'].map((digits) => digits.padEnd(42, '0'))
  const amounts = [500_000n, 2_000_000n, 499_999n, 1_000_000n, 2_000_001n, 1_000_000n, 2n ** 128n - 1n, 2n ** 64n]
  expect(await readQuotes(nodeOf(amounts), stables, BLOCK)).toEqual([
    { status: 'quoted', sellMicros: 500_000, buyMicros: 2_000_000 },
    { status: 'out_of_range', sellMicros: null, buyMicros: 1_000_000 },
    { status: 'out_of_range', sellMicros: null, buyMicros: 1_000_000 },
    { status: 'out_of_range', sellMicros: null, buyMicros: null },
  ])
})

test('so is a quote of depth, measured by its own size', async () => {
  const whole = [1_000n, 10_000n, 100_000n, 1_000_000n].map((size) => size * 1_000_000n)
  const amounts = whole.flatMap((size, i) => (i === 3 ? [2n * size + 1n, 2n ** 64n + size] : [size / 2n, 2n * size]))
  const depths = await readDepths(nodeOf(amounts), ['0xa'.padEnd(42, '0')], BLOCK)
  expect(depths.map(({ sell_status, sell_raw, buy_raw }) => [sell_status, sell_raw, buy_raw])).toEqual([
    ['quoted', '500000000', '2000000000'],
    ['quoted', '5000000000', '20000000000'],
    ['quoted', '50000000000', '200000000000'],
    ['out_of_range', null, null],
  ])
})

test('each stable is asked for what one token sells for, and then for what it costs', () => {
  const stable = '0x20c0000000000000000000001234567890abcdef'
  const pathUsd = '0x20c0000000000000000000000000000000000000'
  const asked = quoteCallsOf([stable]).map(({ target, callData }) => {
    const { functionName, args } = decodeFunctionData({ abi: Abis.stablecoinDex, data: callData })
    return [target, functionName, ...(args ?? []).map((arg) => `${arg}`.toLowerCase())]
  })
  expect(asked).toEqual([
    ['0xdec0000000000000000000000000000000000000', 'quoteSwapExactAmountIn', stable, pathUsd, '1000000'],
    ['0xdec0000000000000000000000000000000000000', 'quoteSwapExactAmountOut', pathUsd, stable, '1000000'],
  ])
})
