import type { ClickHouseClient } from '@clickhouse/client'
import type { Search } from '../../clickhouse/chain/searched.js'
import { type JobName, lateSecondsOf } from '../../clickhouse/jobs/periods.js'
import { type ReadSearches, readSearches } from '../../clickhouse/jobs/searches.js'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { hasCaughtUp } from '../../clickhouse/store/replicas.js'
import { orBefore } from './patience.js'
import { QUERY_TIMEOUT_MS } from './query-signal.js'

/** What the jobs have searched. */
export type KnownSearches = {
  /**
   * What a job has searched by now, or what it had searched at `known_at`. Read it before the results of the job, which
   * may only be added to meanwhile. Rejects with QueryError.
   */
  read: (job: JobName, options: { known_at: Date | null; signal: QuerySignal }) => Promise<Search>
}

/**
 * All runs are read again after this time, in milliseconds: slots between others may have been done. Until then their
 * time counts as not searched.
 */
const MAX_AGE_MS = 30_000

/**
 * Keeps what the jobs have searched in memory. Each answer reads only the slots done since, and concurrent answers share
 * that read. `nowMs` is a monotonic clock.
 */
export function createKnownSearches(clickhouse: ClickHouseClient, nowMs = () => performance.now()): KnownSearches {
  const byJob = new Map<JobName, { searches: ReadSearches; readAt: number }>()
  const reading = new Map<JobName, Promise<ReadSearches>>()

  async function refresh(job: JobName): Promise<ReadSearches> {
    const last = byJob.get(job)
    const before = last && nowMs() - last.readAt < MAX_AGE_MS ? last : null
    const readAt = before?.readAt ?? nowMs()
    const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS)
    const searches = await readSearches(clickhouse, { job, before: before?.searches ?? null }, { signal })
    const fetched = hasCaughtUp(clickhouse, last !== undefined).then((hasAll) => {
      if (hasAll) byJob.set(job, { searches, readAt })
      return hasAll || !last ? searches : last.searches
    })
    return orBefore(fetched, last?.searches)
  }

  function current(job: JobName): Promise<ReadSearches> {
    const read = reading.get(job) ?? refresh(job).finally(() => reading.delete(job))
    reading.set(job, read)
    return read
  }

  return {
    read: async (job, { known_at, signal }) => {
      const { stretches } = known_at
        ? await readSearches(clickhouse, { job, known_at }, { signal })
        : await current(job)
      return { stretches, late_seconds: lateSecondsOf(job) }
    },
  }
}
