import { decodeFunctionResult, encodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { expect, test } from 'vitest'
import { type CallResult, decodeResults, multicallOf } from '../../../../ingest/sources/multicall.js'
import { randomFor } from '../../../../local/chain/random.js'

const encoded = (result: CallResult[]): Hex =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })

/** Up to forty results of up to a hundred bytes. */
function someResults(round: number): CallResult[] {
  const random = randomFor(1, 'results', round)
  return Array.from({ length: random.int(0, 40) }, () => ({
    success: random.chance(0.7),
    returnData: `0x${Array.from({ length: random.int(0, 100) }, () => random.int(0, 255).toString(16).padStart(2, '0')).join('')}`,
  }))
}

test('the results of a multicall are decoded as by viem, whatever their number and length', () => {
  for (let round = 0; round < 200; round++) {
    const results = someResults(round)
    const answer = encoded(results)
    expect(decodeResults(answer)).toEqual(results)
    expect(decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer })).toEqual(results)
  }
})

test('a multicall is encoded as by viem, whatever the number and the length of its calls', () => {
  for (let round = 0; round < 50; round++) {
    const calls = someResults(round).map(({ returnData }, i) => ({
      target: `0x20c0${`${i}`.padStart(36, '0')}` as Hex,
      callData: returnData,
    }))
    const args = [calls.map(({ target, callData }) => ({ target, allowFailure: true, callData }))] as const
    expect(multicallOf(calls).data).toBe(encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args }))
  }
})

test('a truncated response is refused, except within its last bytes', () => {
  const answer = encoded([
    { success: true, returnData: `0x${'01'.repeat(32)}` },
    { success: false, returnData: '0xbb55fd27' },
    { success: true, returnData: `0x${'02'.repeat(32)}` },
  ])
  for (let length = 0; length < answer.length; length++)
    expect(() => decodeResults(answer.slice(0, length))).toThrow(RangeError)
})

test.for([
  ['nothing', '0x'],
  ['a revert', '0xbb55fd27'],
  ['a number', `0x${'f'.repeat(64)}`],
  [
    'a success that is neither',
    encoded([{ success: true, returnData: '0x' }]).replace(/0{63}1(?=0{62}40)/, `${'0'.repeat(63)}2`),
  ],
  ['a list without end', encoded([{ success: true, returnData: '0x' }]).replace(/(?<=20)0{63}1/, 'f'.repeat(64))],
])('%s in place of an answer is refused', ([, answer]) => {
  expect(() => decodeResults(answer as string)).toThrow(RangeError)
})
