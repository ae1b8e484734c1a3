import { hashOf, isSameHash, prefixOf } from './api-key.js'

/** A valid key and its access. */
export type KnownKey = {
  id: string
  prefix: string
  hash: string
  scopes: readonly string[]
  requests_per_minute: number
}

/** The keys that are valid. */
export type KnownKeys = {
  /** The key of a token; null if it is not valid. Rejects like `read` if that cannot be determined. */
  find: (token: string) => Promise<KnownKey | null>
  /** The key of a token if it is known to be valid; null if `find` must decide. */
  findNow: (token: string) => KnownKey | null
  /** Makes the next `find` read the keys again, because they have changed. */
  forget: () => void
}

/** Keys older than this are read again in the background. */
const FRESH_MS = 2000
/** Keys older than this are read again before the answer: a revoked key works for at most this long, in any process. */
const MAX_AGE_MS = 5000
/**
 * Shortest time between two reads of the keys because of unknown tokens; a new key is known in every process after this
 * time.
 */
const MIN_AGE_MS = 1000

/** The key of a token; null if it is none of them. The prefix is no secret; the hashes are compared in constant time. */
function keyOf(token: string, byPrefix: ReadonlyMap<string, readonly KnownKey[]>): KnownKey | null {
  const candidates = byPrefix.get(prefixOf(token))
  if (candidates === undefined) return null
  const hash = hashOf(token)
  return candidates.find((key) => isSameHash(key.hash, hash)) ?? null
}

/**
 * Caches all keys that `read` returns, so that requests need no look-up, and invalid tokens cause none. While `read`
 * fails, the last returned keys stay valid. `nowMs` is a monotonic clock.
 */
export function createKnownKeys(read: () => Promise<KnownKey[]>, nowMs = () => performance.now()): KnownKeys {
  let byPrefix = new Map<string, KnownKey[]>()
  let readAt = Number.NEGATIVE_INFINITY
  let failed = { at: Number.NEGATIVE_INFINITY, error: null as unknown }
  let reading: Promise<void> | null = null
  /** Number of changes by this process: keys that were read before a change are not kept, but read again. */
  let changes = 0

  const readAgain = async (): Promise<void> => {
    const [startedAt, changesBefore] = [nowMs(), changes]
    try {
      const keys = await read()
      if (changes !== changesBefore) return refresh()
      readAt = startedAt
      byPrefix = new Map()
      for (const key of keys) byPrefix.set(key.prefix, [...(byPrefix.get(key.prefix) ?? []), key])
    } catch (error) {
      failed = { at: nowMs(), error }
      throw error
    }
  }

  const refresh = (): Promise<void> => {
    if (reading === null) {
      const started = readAgain().finally(() => {
        if (reading === started) reading = null
      })
      reading = started
    }
    return reading
  }

  const lookUp = (token: string): KnownKey | null => keyOf(token, byPrefix)

  const findNow = (token: string): KnownKey | null => {
    const age = nowMs() - readAt
    const key = age > MAX_AGE_MS ? null : lookUp(token)
    if (key !== null && age > FRESH_MS) refresh().catch(() => {})
    return key
  }

  return {
    findNow,
    find: async (token) => {
      const fresh = findNow(token)
      if (fresh !== null) return fresh
      const now = nowMs()
      const age = now - readAt
      if (lookUp(token) !== null) {
        // A caller with a key waits for an unreachable database only now and then.
        if (now - failed.at > MAX_AGE_MS) await refresh().catch(() => {})
        return lookUp(token)
      }
      if (age <= MIN_AGE_MS) return null
      if (now - failed.at <= MIN_AGE_MS) throw failed.error
      await refresh()
      return lookUp(token)
    },
    forget: () => {
      changes += 1
      reading = null
      readAt = Number.NEGATIVE_INFINITY
    },
  }
}
