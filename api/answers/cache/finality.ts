import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { settledSpan } from '../../../clickhouse/chain/history.js'
import type { CachePolicy, Finality, Finished } from './policies.js'

/**
 * A block this much older than the newest is no longer rolled back, and a backfill or rollback that has written nothing
 * for this long is over; in seconds.
 */
const QUIET_SECONDS = 600
/** How old the knowledge of history may be, in milliseconds: it only grows. */
const KNOWN_MS = 10_000

/** What must be known of a data set to decide whether its past can still change. Times in unix seconds. */
export type Known = {
  from_time: number
  newest_time: number
  is_from_start: boolean
  sampled_from: number | null
  touched_ago: number
}

/** Whether an answer as of `asOf`, in unix seconds, can no longer change. */
export function isFinal({ reachSeconds, isSampled }: Finality, known: Known, asOf: number): boolean {
  if (known.touched_ago < QUIET_SECONDS || asOf > known.newest_time - QUIET_SECONDS) return false
  const first = asOf - reachSeconds
  if (!known.is_from_start && first <= known.from_time) return false
  if (!isSampled) return asOf > known.from_time
  return known.sampled_from !== null && (known.sampled_from === 0 || first > known.sampled_from)
}

/** Reads how final the past as of an instant is. */
export type ReadFinished = (
  policy: CachePolicy,
  about: { asOf: Date | null; knownAt: Date | null; stable: string | undefined },
) => Promise<Finished>

/**
 * Whether an answer with what was published by `knownAt` can still change: only as long as a row that was published by
 * then may still be on its way to the table.
 */
export const finishedKnown = (knownAt: Date, now: Date): Finished =>
  now.getTime() - knownAt.getTime() >= QUIET_SECONDS * 1000 ? 'final' : 'live'

/** Reads that from ClickHouse, and caches the result for a few seconds. */
export function createReadFinished(clickhouse: ClickHouseClient, now: () => Date): ReadFinished {
  const remembered = new LRUCache<string, Promise<Known | null>>({ max: 1000, ttl: KNOWN_MS })
  const known = (stable: string): Promise<Known | null> => {
    const reading = remembered.get(stable) ?? settledSpan(clickhouse, { stable })
    remembered.set(stable, reading, { noUpdateTTL: true })
    reading.catch(() => remembered.delete(stable))
    return reading
  }
  return async ({ finality }, { asOf, knownAt, stable = '' }) => {
    if (knownAt !== null) return finishedKnown(knownAt, now())
    if (asOf === null) return 'live'
    const history = await known(finality?.isSampled ? stable : '')
    const at = asOf.getTime() / 1000
    if (history === null || at > history.newest_time - QUIET_SECONDS) return 'live'
    return finality !== null && isFinal(finality, history, at) ? 'final' : 'past'
  }
}
