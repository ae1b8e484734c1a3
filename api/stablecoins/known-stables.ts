/** The addresses that are known to be tracked stables. */
export type KnownStables = {
  /** Whether an address, in lower case, is one. Reads the list again for one that it does not know. */
  has: (address: string) => Promise<boolean>
}

/** A list older than this is read again. */
const MAX_AGE_MS = 60_000
/** Addresses that are no stables cannot make the list be read more often than this. */
const MIN_AGE_MS = 1000

/**
 * Remembers what `read` returns, so that a request about a known stable needs no look-up. `nowMs` is a clock that
 * only goes forward.
 */
export function createKnownStables(read: () => Promise<string[]>, nowMs = () => performance.now()): KnownStables {
  let known = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  const refresh = (): Promise<void> => {
    reading ??= read()
      .then((addresses) => {
        known = new Set(addresses)
        readAt = nowMs()
      })
      .finally(() => {
        reading = null
      })
    return reading
  }
  return {
    has: async (address) => {
      const age = nowMs() - readAt
      if (age > MAX_AGE_MS || (age > MIN_AGE_MS && !known.has(address))) await refresh()
      return known.has(address)
    },
  }
}
