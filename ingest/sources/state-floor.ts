import { numberToHex } from 'viem'
import { GENESIS_TOKENS } from '../chain/addresses.js'
import type { BlockRange } from '../chain/block-ranges.js'
import { RawHeader } from '../chain/rpc-answers.js'
import type { Rpc } from './rpc.js'
import { StateUnavailableError } from './state-unavailable.js'
import { describeTokens } from './tokens.js'

/** The first block of a range whose state the node has; `to` + 1 if it has none. Nodes drop the oldest states first. */
export async function readStateFloor(rpc: Rpc, { from, to }: BlockRange): Promise<{ floor: number; reason: string }> {
  let reason = ''
  const hasState = (number: number): Promise<boolean> =>
    rpc.persist(`look for the state of block ${number}`, async () => {
      const { hash } = await rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)
      try {
        await describeTokens(rpc, GENESIS_TOKENS, { number, hash })
        return true
      } catch (error) {
        if (!(error instanceof StateUnavailableError)) throw error
        reason = error.message
        return false
      }
    })
  if (await hasState(from)) return { floor: from, reason }
  let [without, floor] = [from, to + 1]
  while (without + 1 < floor) {
    const middle = Math.floor((without + floor) / 2)
    if (await hasState(middle)) floor = middle
    else without = middle
  }
  return { floor, reason }
}
