import type { ClickHouseClient } from '@clickhouse/client'
import { firstSample, settledSpan } from '../../../clickhouse/chain/history.js'
import type { Memories } from '../../../process/memory.js'
import type { CachePolicy, Finality, Finished } from './policies.js'

/**
 * A block this much older than the newest is no longer rolled back, and a backfill or rollback that has written nothing
 * for this long is over; in seconds.
 */
const QUIET_SECONDS = 600
/** How old the settled part of history may be, in milliseconds: it only grows. */
const HISTORY_MS = 10_000
/** Of how many stables it is kept where their samples begin. */
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

/**
 * Reads that from ClickHouse. What is known of all of history is kept for a few seconds; where the samples of a stable
 * begin, until a backfill or a rollback writes.
 */
export function createReadFinished(clickhouse: ClickHouseClient, memories: Memories, now: () => Date): ReadFinished {
  const history = memories.latest<{ span: Awaited<ReturnType<typeof settledSpan>> }>({
    name: 'settled_history',
    holds: 'the part of history to which nothing is written any more',
    until: '10 s: it only grows',
    read: async () => ({ span: await settledSpan(clickhouse) }),
  })
  const samples = memories.entries<string, { first: FirstSample | null }>({
    name: 'first_samples',
    holds: 'where the samples of a stable begin',
    until: 'the next backfill or rollback; 10 s if there are none',
    max: MOST_STABLES,
    ttlMs: ({ first }) => (first === null ? HISTORY_MS : 0),
  })
  return async ({ finality }, { asOf, knownAt, stable = '' }) => {
    if (knownAt !== null) return finishedKnown(knownAt, now())
    if (asOf === null) return 'live'
    const { span } = await history.get((_, ageMs) => ageMs < HISTORY_MS)
    const at = asOf.getTime() / 1000
    if (span === null || at > span.newest_time - QUIET_SECONDS) return 'live'
    if (finality === null || !isFinal(finality, span, at)) return 'past'
    if (!finality.isSampled) return 'final'
    const { first } = await samples.read(`${span.touched_at} ${stable}`, async () => ({
      first: await firstSample(clickhouse, { stable }),
    }))
    return isSampledFor(finality, span, first, at) ? 'final' : 'past'
  }
}
