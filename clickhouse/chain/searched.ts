/** A stretch of time that a job has searched: after `from`, up to and including `until`, in unix seconds. */
export type SearchedStretch = { from: number; until: number }

/** What a job has searched. */
export type Search = {
  /** Apart from each other, in order; empty if it has not searched anything. */
  stretches: readonly SearchedStretch[]
  /** It counts as behind when the last stretch ends more than this before the end of what was asked. */
  late_seconds: number
  /** Whether only a part of the answer depends on it: without it, the rest is still measured. */
  isPart?: boolean
}

/** A search with one stretch, from the start of history to a time in unix seconds. */
export const searchedTo = (until: number, late_seconds: number): Search => ({
  stretches: [{ from: 0, until }],
  late_seconds,
})

/** What a search has left out between two times, both included, in unix seconds: oldest first. */
export function unsearched({ stretches, late_seconds }: Search, from: number, to: number) {
  const gaps: Array<{ from: number; to: number }> = []
  /** The last second before which nothing is left out, apart from `left`. */
  let done = from - 1
  for (const stretch of stretches) {
    if (stretch.until <= done) continue
    if (stretch.from > Math.max(from, done) && done < to)
      gaps.push({ from: Math.max(from, done), to: Math.min(to, stretch.from) })
    done = stretch.until
  }
  const last = stretches.at(-1)
  const isBehind = last === undefined || last.until + late_seconds < to
  if (done < to && isBehind) gaps.push({ from: Math.max(from, done), to })
  return gaps
}

/**
 * The first and the last second up to `to` that a search reached, in unix seconds; null if it reached none. What it left
 * out in between is in `unsearched`.
 */
export function searchedSpan({ stretches }: Search, to: number): SearchedStretch | null {
  const reached = stretches.filter(({ from }) => from < to)
  const [first, last] = [reached[0], reached.at(-1)]
  return first && last ? { from: first.from, until: Math.min(last.until, to) } : null
}
