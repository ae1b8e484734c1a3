import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { firstSample, settledSpan } from '../../../clickhouse/chain/history.js'
import type { CachePolicy, Finality, Finished } from './policies.js'

/**
 * A block this much older than the newest is no longer rolled back, and a backfill or rollback that has written nothing
 * for this long is over; in seconds.
 */
const QUIET_SECONDS = 600
/** How old the knowledge of history may be, in milliseconds: it only grows. */
const RECHECK_MS = 10_000
/** Of how many stables it is remembered where their samples begin. */
const MOST_STABLES = 1000

/** What must be known of a data set to decide whether its past can still change. Times in unix seconds. */
export type SettledSpan = {
  from_block: number
  from_time: number
  newest_time: number
  is_from_start: boolean
  touched_ago: number
}

/** Where the samples of a stable begin, and when it was created. */
export type FirstSample = { created: number; block: number; time: number }

/** Whether an answer as of `asOf`, in unix seconds, can no longer change; if it is made of samples, as far as it depends on other facts. */
export function isFinal({ reachSeconds, isSampled }: Finality, span: SettledSpan, asOf: number): boolean {
  if (span.touched_ago < QUIET_SECONDS || asOf > span.newest_time - QUIET_SECONDS) return false
  if (!span.is_from_start && asOf - reachSeconds <= span.from_time) return false
  return isSampled || asOf > span.from_time
}

/** Whether the samples of an answer begin with the stable's creation, or with history, or before all that it reaches back to. */
export function isSampledFor(
  { reachSeconds }: Finality,
  { from_block }: SettledSpan,
  first: FirstSample | null,
  asOf: number,
): boolean {
  return first !== null && (first.block <= Math.max(first.created, from_block) + 1 || asOf - reachSeconds > first.time)
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

/** A read that is remembered by its key, without a result for a few seconds; a failed one is repeated. */
function remembering<Value>(options: { max: number; ttl?: number }) {
  const remembered = new LRUCache<string, Promise<Value | null>>(options)
  return (key: string, read: () => Promise<Value | null>): Promise<Value | null> => {
    const earlier = remembered.get(key)
    if (earlier) return earlier
    const reading = read()
    remembered.set(key, reading)
    const isCurrent = (): boolean => remembered.peek(key) === reading
    reading.then(
      (value) => value === null && isCurrent() && remembered.set(key, reading, { ttl: RECHECK_MS }),
      () => isCurrent() && remembered.delete(key),
    )
    return reading
  }
}

/**
 * Reads that from ClickHouse. What is known of all of history is remembered for a few seconds; where the samples of a stable
 * begin, until a backfill or a rollback writes.
 */
export function createReadFinished(clickhouse: ClickHouseClient, now: () => Date): ReadFinished {
  const history = remembering<SettledSpan & { touched_at: string }>({ max: 1, ttl: RECHECK_MS })
  const samples = remembering<FirstSample>({ max: MOST_STABLES })
  return async ({ finality }, { asOf, knownAt, stable = '' }) => {
    if (knownAt !== null) return finishedKnown(knownAt, now())
    if (asOf === null) return 'live'
    const span = await history('', () => settledSpan(clickhouse))
    const at = asOf.getTime() / 1000
    if (span === null || at > span.newest_time - QUIET_SECONDS) return 'live'
    if (finality === null || !isFinal(finality, span, at)) return 'past'
    if (!finality.isSampled) return 'final'
    const first = await samples(`${span.touched_at} ${stable}`, () => firstSample(clickhouse, { stable }))
    return isSampledFor(finality, span, first, at) ? 'final' : 'past'
  }
}
