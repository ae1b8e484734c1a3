import type { Ledger } from '../chain/ledger.js'
import { FIRST_BLOCK, storedFor } from '../chain/missing.js'

/**
 * How long settled samples are kept by a process, in milliseconds: what was read while the repair of an interrupted insert
 * had removed some of them is forgotten before an answer about that time can be final.
 */
export const KEPT_MS = 300_000

/**
 * The last second up to which all samples of a stable after an instant are stored, in unix seconds; -Infinity if they are
 * not. As long as the ledger has the same revision they do not change.
 */
export function settledFor(ledger: Ledger, stable: string): (after: number) => number {
  const stored = storedFor(ledger, 'pegs', stable)
  return (after) => {
    // Blocks of the same second may be in two ranges. Before the chain's first block there is nothing.
    const ends = stored
      .filter(({ from_block, from_time }) => from_block <= FIRST_BLOCK || (from_time !== null && from_time < after))
      .map(({ to_time }) => (to_time === null ? Number.NEGATIVE_INFINITY : to_time - 1))
    return Math.max(...ends)
  }
}
