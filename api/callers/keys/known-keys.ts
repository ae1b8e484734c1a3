import { hashOf, isSameHash, prefixOf } from './api-key.js'

/** A key that opens something. */
export type KnownKey = {
  id: string
  prefix: string
  hash: string
  scopes: readonly string[]
  requests_per_minute: number
}

/** The keys that are valid. */
export type KnownKeys = {
  /** The key that a token is; null where it is none. Rejects as `read` does where that cannot be told. */
  find: (token: string) => Promise<KnownKey | null>
  /** A key that is known to be valid; null where that has to be asked for with `find`. */
  findNow: (token: string) => KnownKey | null
  /** Has the next `find` read the keys again: they have changed. */
  forget: () => void
}

/** Keys older than this are read again beside the answer. */
const FRESH_MS = 2000
/** Keys older than this are read again before it: so long a revoked key may go on at most, in any process. */
const MAX_AGE_MS = 5000
/** So often at most the keys are read for a token that is none, and so late at most a new key is known in every process. */
const MIN_AGE_MS = 1000

/**
 * Remembers the keys that `read` returns, all of them, so that a request waits for no look-up, and tokens that are no
 * keys cause none. While `read` fails, the keys that it returned last go on being valid. `nowMs` is a clock that only
 * goes forward.
 */
export function createKnownKeys(read: () => Promise<KnownKey[]>, nowMs = () => performance.now()): KnownKeys {
  let byPrefix = new Map<string, KnownKey[]>()
  let readAt = Number.NEGATIVE_INFINITY
  let failed = { at: Number.NEGATIVE_INFINITY, error: null as unknown }
  let reading: Promise<void> | null = null
  /** How often the keys have changed here: what was read before a change is not kept, and read again. */
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
      const own = readAgain().finally(() => {
        if (reading === own) reading = null
      })
      reading = own
    }
    return reading
  }

  /** The prefix is no secret, so it may find the key; the rest is compared as hashes, in constant time. */
  const lookUp = (token: string): KnownKey | null => {
    const candidates = byPrefix.get(prefixOf(token))
    if (candidates === undefined) return null
    const hash = hashOf(token)
    return candidates.find((key) => isSameHash(key.hash, hash)) ?? null
  }

  const findNow = (token: string): KnownKey | null => {
    const age = nowMs() - readAt
    const known = age > MAX_AGE_MS ? null : lookUp(token)
    if (known !== null && age > FRESH_MS) refresh().catch(() => {})
    return known
  }

  return {
    findNow,
    find: async (token) => {
      const fresh = findNow(token)
      if (fresh !== null) return fresh
      const now = nowMs()
      const age = now - readAt
      if (lookUp(token) !== null) {
        // Who has a key does not wait for a database that is away, more than now and then.
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
