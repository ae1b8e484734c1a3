import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { settledSpan } from '../../../clickhouse/chain/history.js'
import { jobHorizon } from '../../../clickhouse/jobs/runs.js'
import type { CachePolicy, Finality, Finished } from './policies.js'

/**
 * A block this much older than the newest is not taken back any more, and a backfill or a rollback is over after this
 * time without a word from it; in seconds.
 */
const QUIET_SECONDS = 600
/** What is known of history may be this old: it only becomes more. */
const KNOWN_MS = 10_000

/** What has to be known of a data set to tell whether its past is over. Times in unix seconds. */
export type Known = {
  from_time: number
  newest_time: number
  is_from_start: boolean
  sampled_from: number | null
  touched_ago: number
  /** The newest slot that is done of the job in question; null where there is none, or no job. */
  horizon: number | null
}

/** Whether nothing that can be read later changes an answer as of `asOf`, in unix seconds. */
export function isFinal({ reachSeconds, isSampled, job }: Finality, known: Known, asOf: number): boolean {
  if (known.touched_ago < QUIET_SECONDS || asOf > known.newest_time - QUIET_SECONDS) return false
  if (job !== null && (known.horizon === null || asOf > known.horizon)) return false
  const first = asOf - reachSeconds
  if (!known.is_from_start && first <= known.from_time) return false
  if (!isSampled) return asOf > known.from_time
  return known.sampled_from !== null && (known.sampled_from === 0 || first > known.sampled_from)
}

/** Tells how far the past as of an instant is over. */
export type ReadFinished = (
  policy: CachePolicy,
  about: { asOf: Date | null; stable: string | undefined },
) => Promise<Finished>

/** Reads that from ClickHouse, and remembers what it found for a little while. */
export function createReadFinished(clickhouse: ClickHouseClient): ReadFinished {
  const remembered = new LRUCache<string, Promise<Known | null>>({ max: 1000, ttl: KNOWN_MS })
  const read = async (stable: string, job: string | null): Promise<Known | null> => {
    const [span, horizon] = await Promise.all([
      settledSpan(clickhouse, { stable }),
      job === null ? null : jobHorizon(clickhouse, { job }),
    ])
    return span && { ...span, horizon: horizon && horizon.getTime() / 1000 }
  }
  const known = (stable: string, job: string | null): Promise<Known | null> => {
    const key = `${job} ${stable}`
    const reading = remembered.get(key) ?? read(stable, job)
    remembered.set(key, reading, { noUpdateTTL: true })
    reading.catch(() => remembered.delete(key))
    return reading
  }
  return async ({ finality }, { asOf, stable = '' }) => {
    if (asOf === null) return 'live'
    const history = await known(finality?.isSampled ? stable : '', finality?.job ?? null)
    const at = asOf.getTime() / 1000
    if (history === null || at > history.newest_time - QUIET_SECONDS) return 'live'
    return finality !== null && isFinal(finality, history, at) ? 'final' : 'past'
  }
}
