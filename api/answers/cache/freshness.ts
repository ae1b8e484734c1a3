import type { CachePolicy } from './policies.js'

/** How long an answer may be given again, in milliseconds, and what caches elsewhere are told. */
export type Freshness = {
  /** Until then it is given without looking. */
  maxAgeMs: number
  /** For that much longer it is given where ClickHouse is away or slow, and marked as stale. */
  staleMs: number
  cacheControl: string
}

/**
 * What an answer is about: now, a time back from now, the past as far as it is known today, or a past that nothing
 * changes any more.
 */
export type Finished = 'live' | 'moving' | 'past' | 'final'

/** How long an answer is better than none. */
const STALE_SECONDS = 600
const YEAR_SECONDS = 31_536_000
/** Blocks of that time are all in, but what is read later may still add to them. */
const PAST_SECONDS = 60
/** Whatever is said to others, the answer is computed again after an hour: data sets get repaired. */
const FINAL_SECONDS = 3600

/** How old an answer under `policy` may become. */
export function freshnessOf({ maxAgeSeconds }: CachePolicy, finished: Finished): Freshness {
  if (finished === 'final')
    return {
      maxAgeMs: FINAL_SECONDS * 1000,
      staleMs: 86_400_000,
      cacheControl: `public, max-age=${YEAR_SECONDS}, immutable`,
    }
  const seconds =
    finished === 'past' ? Math.max(PAST_SECONDS, maxAgeSeconds) : finished === 'moving' ? 1 : maxAgeSeconds
  return {
    maxAgeMs: seconds * 1000,
    staleMs: STALE_SECONDS * 1000,
    cacheControl: `public, max-age=${seconds}, stale-if-error=${STALE_SECONDS}`,
  }
}
