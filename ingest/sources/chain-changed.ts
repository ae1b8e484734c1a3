import { numberToHex } from 'viem'
import { PlumblineError } from '../../process/errors.js'
import { BlockMissingError, RawHeader } from '../chain/rpc-answers.js'
import type { BlockId } from './multicall.js'
import type { Rpc } from './rpc.js'

/** The node's chain is no longer the one that was read so far, so new blocks do not fit the known ones. */
export class ChainChangedError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/**
 * Number of failed reads after which a block counts as removed rather than not yet available: nodes behind one address
 * may lag behind the first of them.
 */
const MISSES = 3

/** Runs `read` until it succeeds; rejects with ChainChangedError when blocks that it needs no longer exist. */
export function persistWhileThere<Result>(rpc: Rpc, what: string, read: () => Promise<Result>): Promise<Result> {
  let misses = 0
  return rpc.persist(what, async () => {
    try {
      return await read()
    } catch (cause) {
      if (cause instanceof BlockMissingError && ++misses === MISSES) throw new ChainChangedError(cause.message)
      throw cause
    }
  })
}

/**
 * Runs a `read` of the state of blocks, of which `newest` is the last, until it succeeds; rejects with ChainChangedError
 * when `newest` is no longer a block of the chain.
 */
export function persistAt<Result>(
  rpc: Rpc,
  what: string,
  newest: BlockId,
  read: () => Promise<Result>,
): Promise<Result> {
  return persistWhileThere(rpc, what, async () => {
    try {
      return await read()
    } catch (cause) {
      const params = [numberToHex(newest.number), false]
      const header = await rpc.request('eth_getBlockByNumber', params, RawHeader.pick({ hash: true }).nullable())
      if (!header) throw new BlockMissingError(`the node does not have block ${newest.number}`)
      if (header.hash !== newest.hash) throw new ChainChangedError(`block ${newest.number} is no longer ${newest.hash}`)
      throw cause
    }
  })
}

type LinkedBlock = { number: number; hash: string; parentHash: string }

/**
 * Passes on ranges of blocks while each begins with a child of the block before it. `last` is the block before the first
 * range, null if there is none. `planned` is the end of a range that was read before and may be partly written: it must
 * have the same hash again. Rejects with ChainChangedError.
 */
export async function* linkedRanges<Range extends readonly LinkedBlock[]>(
  ranges: AsyncIterable<Range>,
  last: { hash: string } | null,
  planned: { to: number; lastHash: string } | null,
): AsyncGenerator<Range> {
  let parent = last?.hash
  for await (const range of ranges) {
    const [first, end] = [range[0], range.at(-1)] as [LinkedBlock, LinkedBlock]
    if (parent !== undefined && first.parentHash !== parent)
      throw new ChainChangedError(`block ${first.number} is not a child of ${parent}`)
    if (planned?.to === end.number && planned.lastHash !== end.hash)
      throw new ChainChangedError(`block ${end.number} was ${planned.lastHash} when it was planned`)
    parent = end.hash
    yield range
  }
}
