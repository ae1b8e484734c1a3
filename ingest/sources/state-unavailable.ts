import { BaseError } from 'viem'
import { PlumblineError } from '../../process/errors.js'

/**
 * The node has the block, but no longer the state at its end, as it keeps only the newest ones. A retry does not help.
 */
export class StateUnavailableError extends PlumblineError {
  constructor(blockNumber: number, cause: unknown) {
    super(`the node no longer has the state of block ${blockNumber}: ${messageOf(cause)}`, { retryable: false, cause })
  }
}

/** How nodes and providers report a state that they have dropped. */
const REFUSALS = [
  // Reth, which Tempo's node is built on.
  /state at block #?\d+ is pruned/i,
  // Geth: the hash-based and the path-based store; the latter also with "required" before it.
  /missing trie node/i,
  /historical state .*is not available/i,
  /historical state unavailable/i,
  // Nethermind.
  /no state available for block/i,
  // Providers that sell access to old states separately.
  /archive (state|node|data|request)/i,
]

/** Anvil also reports this for a block that it does not have yet, which may only be a matter of time. */
const ANVIL = /block height is (\d+) but requested was (\d+)/

const messageOf = (error: unknown): string =>
  error instanceof BaseError ? error.details : error instanceof Error ? error.message : String(error)

/** Whether a node refused a read because it no longer has the requested state. */
export function isStateUnavailable(error: unknown): boolean {
  const message = messageOf(error)
  const [, height, requested] = ANVIL.exec(message) ?? []
  if (height !== undefined && requested !== undefined) return Number(requested) <= Number(height)
  return REFUSALS.some((refusal) => refusal.test(message))
}
