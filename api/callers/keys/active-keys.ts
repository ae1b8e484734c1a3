import type { Memories } from '../../../process/memory.js'
import { hashOf, isSameHash, prefixOf } from './api-key.js'

/** A valid key and its access. */
export type ActiveKey = {
  id: string
  prefix: string
  hash: string
  scopes: readonly string[]
  requests_per_minute: number
}

/** The keys that are valid. */
export type ActiveKeys = {
  /** The key of a token; null if it is not valid. Rejects like `read` if that cannot be determined. */
  find: (token: string) => Promise<ActiveKey | null>
  /** The key of a token if it was valid a moment ago; null if `find` must decide. */
  findNow: (token: string) => ActiveKey | null
  /** Makes the next `find` read the keys again, because they have changed. */
  expire: () => void
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
function keyOf(token: string, byPrefix: ReadonlyMap<string, readonly ActiveKey[]>): ActiveKey | null {
  const candidates = byPrefix.get(prefixOf(token))
  if (candidates === undefined) return null
  const hash = hashOf(token)
  return candidates.find((key) => isSameHash(key.hash, hash)) ?? null
}

/**
 * All keys that `read` returns, kept so that requests need no look-up, and invalid tokens cause none. While `read` fails,
 * the last returned keys stay valid. `nowMs` is a monotonic clock.
 */
export function createActiveKeys(
  read: () => Promise<ActiveKey[]>,
  memories: Memories,
  nowMs = () => performance.now(),
): ActiveKeys {
  let failed = { at: Number.NEGATIVE_INFINITY, error: null as unknown }
  const latest = memories.latest<Map<string, ActiveKey[]>>({
    name: 'api_keys',
    holds: 'the valid keys, by their hashes',
    until: '5 s, a change by this process; longer while they cannot be read',
    read: async () => {
      try {
        const byPrefix = new Map<string, ActiveKey[]>()
        for (const key of await read()) byPrefix.set(key.prefix, [...(byPrefix.get(key.prefix) ?? []), key])
        return byPrefix
      } catch (error) {
        failed = { at: nowMs(), error }
        throw error
      }
    },
    count: (byPrefix) => [...byPrefix.values()].flat().length,
    nowMs,
  })

  const lookUp = (token: string): ActiveKey | null => latest.value && keyOf(token, latest.value)

  const findNow = (token: string): ActiveKey | null => {
    const byPrefix = latest.getNow((_, ageMs) => ageMs <= MAX_AGE_MS)
    const key = byPrefix && keyOf(token, byPrefix)
    if (key !== null && latest.ageMs > FRESH_MS) latest.read().catch(() => {})
    return key
  }

  return {
    findNow,
    find: async (token) => {
      const fresh = findNow(token)
      if (fresh !== null) return fresh
      const failedAgo = nowMs() - failed.at
      if (lookUp(token) !== null) {
        // A caller with a key waits for an unreachable database only now and then.
        if (failedAgo > MAX_AGE_MS) await latest.read().catch(() => {})
        return lookUp(token)
      }
      if (latest.ageMs <= MIN_AGE_MS) return null
      if (failedAgo <= MIN_AGE_MS) throw failed.error
      await latest.read()
      return lookUp(token)
    },
    expire: () => latest.expire(),
  }
}
