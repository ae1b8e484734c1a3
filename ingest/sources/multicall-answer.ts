import type { Hex } from 'viem'

/** `returnData` is the call's answer, or the revert's data when `success` is false. */
export type CallResult = { success: boolean; returnData: Hex }

const WORD = 64

/**
 * The results in the answer of Multicall3's aggregate3, an array of (bool success, bytes returnData) in ABI encoding.
 * Throws RangeError where the answer is anything else, a cut one included. Reads the digits in place, several times as
 * fast as viem, which gives the same: a thousand stables have two thousand results a block.
 */
export function decodeResults(answer: string): CallResult[] {
  /** The word at a digit, as a number that can be a length or a distance within the answer. */
  const numberAt = (at: number): number => {
    const digits = answer.slice(at, at + WORD)
    const value = Number.parseInt(digits, 16)
    if (digits.length < WORD || !(value <= answer.length)) throw new RangeError(`no length or distance at digit ${at}`)
    return value
  }
  // Distances are in bytes from the start of what they are part of.
  const list = '0x'.length + 2 * numberAt('0x'.length)
  const count = numberAt(list)
  const results: CallResult[] = []
  for (let i = 0; i < count; i++) {
    const result = list + WORD + 2 * numberAt(list + WORD + i * WORD)
    const success = numberAt(result)
    const bytes = result + 2 * numberAt(result + WORD)
    const returnData = answer.slice(bytes + WORD, bytes + WORD + 2 * numberAt(bytes))
    if (success > 1 || returnData.length !== 2 * numberAt(bytes)) throw new RangeError(`no result ${i}`)
    results.push({ success: success === 1, returnData: `0x${returnData}` })
  }
  return results
}
