import { numberToHex } from 'viem'
import { PlumblineError } from '../../process/errors.js'
import { RawHeader, RpcAnswerError } from '../chain/rpc-answers.js'
import type { BlockId } from './multicall.js'
import type { Rpc } from './rpc.js'

/** The node's chain is no longer the one that was read so far, so new blocks do not fit the known ones. */
export class ChainChangedError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

/** The node does not have a block, or no longer has it. */
export class BlockMissingError extends RpcAnswerError {}

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

/** The same for a `read` of the state of blocks of which `newest` is the last. */
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
      const found = await rpc.request('eth_getBlockByNumber', params, RawHeader.pick({ hash: true }).nullable())
      if (!found) throw new BlockMissingError(`the node does not have block ${newest.number}`)
      if (found.hash !== newest.hash) throw new ChainChangedError(`block ${newest.number} is no longer ${newest.hash}`)
      throw cause
    }
  })
}
