/** How much to ask a node for in one request (blocks of logs, or calls of a batch), as learned from what it answers. */
export type RequestSize = {
  /** For most requests; at least 1. */
  present: () => number
  /** For the next request: now and then it is a try of more. */
  next: () => number
  /**
   * A request for so many was answered, with so many results, after so many milliseconds; `at` tells it from others that
   * are under way.
   */
  answered: (asked: number, at: number, results: number, ms: number) => void
  /**
   * A request for so many failed, for whatever reason. `offered` is what the node seems to offer instead, null if nothing.
   * Returns whether the next request is for fewer.
   */
  failed: (asked: number, at: number, offered: number | null) => boolean
  /** Whether the last request of the present size was answered; false before the first. */
  isSettled: () => boolean
  /** Whether all requests since a larger one was given up have failed, or `asked` is only a try of more. */
  isDoubtful: (asked: number) => boolean
}

export type RequestSizeOptions = {
  first: number
  most: number
  /** Results of one answer beyond which less is asked for, although the node would give more. */
  mostResults: number
}

/** An answer that took longer, in milliseconds, is no reason to ask for more. */
const SLOW_MS = 2000
/** Answers before a try of more than what has failed; twice as many after each try in vain. */
const [FIRST_ANSWERS_PER_TRY, MOST_ANSWERS_PER_TRY] = [4, 4096]

/**
 * Doubles with each full answer, up to `most`, until a request fails twice; then it halves, and again with each further
 * failure until there is an answer. From then on single requests try half as much more, ever more seldom while these fail,
 * because it may depend on the blocks, or the node may have been down.
 */
export function createRequestSize({ first, most, mostResults }: RequestSizeOptions): RequestSize {
  let size = first
  let isLimited = false
  let isFalling = false
  let isSettled = false
  let answersPerTry = FIRST_ANSWERS_PER_TRY
  let answersToTry = 0
  /** Where a request of the present size has failed once. */
  const failedAt = new Set<number>()
  return {
    present: () => size,
    next: () => {
      if (!isLimited || isFalling || answersToTry > 0 || size >= most) return size
      answersToTry = answersPerTry
      return Math.min(most, Math.ceil(1.5 * size))
    },
    answered: (asked, at, results, ms) => {
      failedAt.delete(at)
      // Of requests that were under way together, only those of the present size count.
      if (asked < size) return
      isFalling = false
      isSettled = true
      if (results > mostResults) size = Math.max(1, Math.floor((asked * mostResults) / results))
      else if (ms > SLOW_MS || 2 * results > mostResults) return
      else if (!isLimited) size = Math.min(most, 2 * size)
      else if (asked > size) [size, answersToTry, answersPerTry] = [asked, 0, FIRST_ANSWERS_PER_TRY]
      else answersToTry = Math.max(0, answersToTry - 1)
    },
    failed: (asked, at, offered) => {
      if (asked === 1) return false
      // A larger one was a try, or under way together with one that failed before.
      if (asked > size) {
        if (!isFalling) answersPerTry = Math.min(MOST_ANSWERS_PER_TRY, 2 * answersPerTry)
        answersToTry = answersPerTry
        return true
      }
      const isOffered = offered !== null && offered >= 1 && offered < asked
      if (!isOffered && !isFalling && !failedAt.has(at)) {
        failedAt.add(at)
        return false
      }
      failedAt.clear()
      isLimited = true
      isFalling = true
      isSettled = false
      size = isOffered ? offered : Math.floor(asked / 2)
      answersToTry = answersPerTry
      return true
    },
    isSettled: () => isSettled,
    isDoubtful: (asked) => isFalling || asked > size,
  }
}
