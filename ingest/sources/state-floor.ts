import { numberToHex } from 'viem'
import { GENESIS_TOKENS } from '../chain/addresses.js'
import type { BlockRange } from '../chain/block-ranges.js'
import { RawHeader } from '../chain/rpc-answers.js'
import type { Rpc } from './rpc.js'
import { StateUnavailableError } from './state-unavailable.js'
import { describeTokens } from './tokens.js'

/** Why the node does not have the state of a block; null if it has it. */
export const whyNoState = (rpc: Rpc, number: number): Promise<string | null> =>
  rpc.persist(`look for the state of block ${number}`, async () => {
    const { hash } = await rpc.request('eth_getBlockByNumber', [numberToHex(number), false], RawHeader)
    try {
      await describeTokens(rpc, GENESIS_TOKENS, { number, hash })
      return null
    } catch (error) {
      if (!(error instanceof StateUnavailableError)) throw error
      return error.message
    }
  })

/** The first block of a range whose state the node has; `to` + 1 if it has none. Nodes drop the oldest states first. */
export async function readStateFloor(rpc: Rpc, { from, to }: BlockRange): Promise<{ floor: number; reason: string }> {
  let reason = ''
  const hasState = async (number: number): Promise<boolean> => {
    const why = await whyNoState(rpc, number)
    reason = why ?? reason
    return why === null
  }
  if (await hasState(from)) return { floor: from, reason }
  let [without, floor] = [from, to + 1]
  while (without + 1 < floor) {
    const middle = Math.floor((without + floor) / 2)
    if (await hasState(middle)) floor = middle
    else without = middle
  }
  return { floor, reason }
}
