import { BaseError } from 'viem'
import { PlumblineError } from '../../process/errors.js'

/** The node has the block, but no longer the state at its end: it keeps the newest ones only. Asking again is no use. */
export class StateUnavailableError extends PlumblineError {
  constructor(blockNumber: number, cause: unknown) {
    super(`the node no longer has the state of block ${blockNumber}: ${messageOf(cause)}`, { retryable: false, cause })
  }
}

/** What nodes and providers say of a state that they have dropped. */
const REFUSALS = [
  // Reth, which Tempo's node is built on.
  /state at block #?\d+ is pruned/i,
  // Geth: the hash-based and the path-based store; the last also with "required" before it.
  /missing trie node/i,
  /historical state .*is not available/i,
  /historical state unavailable/i,
  // Nethermind.
  /no state available for block/i,
  // Providers that sell old states apart.
  /archive (state|node|data|request)/i,
]

/** Anvil says the same of a block that it has not got yet, which may be a matter of time. */
const ANVIL = /block height is (\d+) but requested was (\d+)/

const messageOf = (error: unknown): string =>
  error instanceof BaseError ? error.details : error instanceof Error ? error.message : String(error)

/** Whether a node has refused a read because it no longer has the state that was asked for. */
export function isStateUnavailable(error: unknown): boolean {
  const message = messageOf(error)
  const [, height, requested] = ANVIL.exec(message) ?? []
  if (height !== undefined && requested !== undefined) return Number(requested) <= Number(height)
  return REFUSALS.some((refusal) => refusal.test(message))
}
