import type { ClickHouseClient } from '@clickhouse/client'
import type { Search } from '../../clickhouse/chain/searched.js'
import { type JobName, lateSecondsOf, PERIOD_SECONDS } from '../../clickhouse/jobs/periods.js'
import { type ReadSearches, readSearches } from '../../clickhouse/jobs/searches.js'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { hasCaughtUp } from '../../clickhouse/store/replicas.js'
import type { Memories } from '../../process/memory.js'
import { QUERY_TIMEOUT_MS } from './query-signal.js'

/** What the jobs have searched. */
export type Searches = {
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

/** What the jobs have searched, kept in memory: each answer reads only the slots done since. `nowMs` is a monotonic clock. */
export function createSearches(
  clickhouse: ClickHouseClient,
  memories: Memories,
  nowMs = () => performance.now(),
): Searches {
  const searchesOf = (job: JobName) =>
    memories.latest<{ searches: ReadSearches; allReadAt: number }>({
      name: 'searches',
      holds: 'the stretches of time that each job has searched',
      until: 'continued by each answer; after 30 s, a rollback or a backfill they are read again',
      read: async (last) => {
        const before = last && nowMs() - last.allReadAt < MAX_AGE_MS ? last : null
        const allReadAt = before?.allReadAt ?? nowMs()
        const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS)
        const searches = await readSearches(clickhouse, { job, before: before?.searches ?? null }, { signal })
        return { searches, allReadAt }
      },
      isSettled: (hasBefore) => hasCaughtUp(clickhouse, hasBefore),
      count: ({ searches }) => searches.stretches.length,
      nowMs,
    })
  const jobs = Object.keys(PERIOD_SECONDS) as JobName[]
  const byJob = Object.fromEntries(jobs.map((job) => [job, searchesOf(job)])) as Record<
    JobName,
    ReturnType<typeof searchesOf>
  >

  return {
    read: async (job, { known_at, signal }) => {
      const { stretches } = known_at
        ? await readSearches(clickhouse, { job, known_at }, { signal })
        : (await byJob[job].get(() => false)).searches
      return { stretches, late_seconds: lateSecondsOf(job) }
    },
  }
}
