import type { Memories } from '../../process/memory.js'
import type { Ledger } from '../chain/ledger.js'
import { FIRST_BLOCK, storedFor } from '../chain/missing.js'

/**
 * How long settled samples are kept by a process, in milliseconds: what was read while the repair of an interrupted insert
 * had removed some of them is forgotten before an answer about that time can be final.
 */
const KEPT_MS = 300_000

/**
 * The last second up to which all samples of a stable after an instant are stored, in unix seconds; -Infinity if they are
 * not. As long as the ledger has the same revision they do not change.
 */
function settledFor(ledger: Ledger, stable: string): (after: number) => number {
  const stored = storedFor(ledger, 'pegs', stable)
  return (after) => {
    // Blocks of the same second may be in two ranges. Before the chain's first block there is nothing.
    const ends = stored
      .filter(({ from_block, from_time }) => from_block <= FIRST_BLOCK || (from_time !== null && from_time < after))
      .map(({ to_time }) => (to_time === null ? Number.NEGATIVE_INFINITY : to_time - 1))
    return Math.max(...ends)
  }
}

/** Parts of the history of a stable, by the second in which each ends, for an answer that was begun with a ledger. */
type SettledParts<Part> = {
  /** The last second up to which the part is settled; not within it if nothing of it is. */
  settledUntil: (end: number) => number
  /** A part as far as an answer about times up to `until` needs it; undefined if it must be read. */
  find: (end: number, until: number) => Part | undefined
  /** Keeps a part that was read, if anything of it is settled. */
  keep: (end: number, part: Part) => void
}

/**
 * Parts of the histories of stables, up to `maxBytes`, each kept up to the last second of which everything is stored: as
 * long as the ledger has the same revision that does not change.
 */
export function createSettledParts<Part extends object>(
  memories: Memories,
  part: {
    name: string
    holds: string
    maxBytes: number
    bytesOf: (part: Part) => number
    /** The length of a part, and the steps in which it settles. */
    seconds: number
    stepSeconds: number
  },
): (ledger: Ledger, stable: string) => SettledParts<Part> {
  const { seconds, stepSeconds, bytesOf, ...description } = part
  const kept = memories.entries<string, { part: Part; settledUntil: number; revision: string }>({
    ...description,
    until: '5 min, a rollback or a declared gap',
    bytesOf: ({ part }) => bytesOf(part),
    ttlMs: KEPT_MS,
  })
  return (ledger, stable) => {
    const settledAfter = settledFor(ledger, stable)
    const settledUntil = (end: number): number =>
      Math.min(end, Math.floor(settledAfter(end - seconds) / stepSeconds) * stepSeconds)
    return {
      settledUntil,
      find: (end, until) =>
        kept.get(
          `${stable} ${end}`,
          ({ settledUntil, revision }) => revision === ledger.revision && settledUntil >= Math.min(end, until),
        )?.part,
      keep: (end, part) => {
        const until = settledUntil(end)
        if (until > end - seconds)
          kept.set(`${stable} ${end}`, { part, settledUntil: until, revision: ledger.revision })
      },
    }
  }
}
