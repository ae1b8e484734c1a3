/** How many blocks to ask a node for at once, as learned from what it answers. */
export type RangeSize = {
  /** For the next request; at least 1. */
  blocks: () => number
  /** So many blocks were answered, with so many results, after so many milliseconds. */
  answered: (blocks: number, results: number, ms: number) => void
  /** So many blocks were too many; `offered` is how many the node offers instead, null if it does not say. */
  refused: (blocks: number, offered: number | null) => void
}

export type RangeSizeOptions = {
  first: number
  most: number
  /** Results of one answer beyond which fewer blocks are asked for, although the node would give more. */
  mostResults: number
}

/** An answer that took longer, in milliseconds, is no reason to ask for more. */
const SLOW_MS = 2000
/** Answers between two tries of more than a node has refused: more where it has said how many it gives. */
const ANSWERS_PER_TRY = 20
const ANSWERS_PER_TRY_IF_SAID = 200

/**
 * Doubles with each full answer, up to `most`, until the node refuses; then it is half of what was refused, or what the
 * node offers. From then on single requests try half as much more now and then, because it may depend on the blocks.
 */
export function createRangeSize({ first, most, mostResults }: RangeSizeOptions): RangeSize {
  let size = first
  let isLimited = false
  let answersPerTry = ANSWERS_PER_TRY
  let answersToTry = 0
  return {
    blocks: () => {
      if (!isLimited || answersToTry > 0 || size >= most) return size
      answersToTry = answersPerTry
      return Math.min(most, Math.ceil(1.5 * size))
    },
    answered: (blocks, results, ms) => {
      // Of requests that were under way together, only those of the present size count.
      if (blocks < size) return
      if (results > mostResults) size = Math.max(1, Math.floor((blocks * mostResults) / results))
      else if (ms > SLOW_MS || 2 * results > mostResults) return
      else if (!isLimited) size = Math.min(most, 2 * size)
      else if (blocks > size) [size, answersToTry] = [blocks, 0]
      else answersToTry = Math.max(0, answersToTry - 1)
    },
    refused: (blocks, offered) => {
      const isOffered = offered !== null && offered >= 1 && offered < blocks
      isLimited = true
      answersPerTry = isOffered ? ANSWERS_PER_TRY_IF_SAID : ANSWERS_PER_TRY
      answersToTry = answersPerTry
      if (isOffered) size = offered
      // A larger one was a try, or under way together with one that was refused before.
      else if (blocks <= size) size = Math.max(1, Math.floor(blocks / 2))
    },
  }
}
