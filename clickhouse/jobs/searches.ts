import type { ClickHouseClient } from '@clickhouse/client'
import type { SearchedStretch } from '../chain/searched.js'
import type { ReadOptions } from '../store/define-query.js'
import { doneStretches, readDoneSlots } from './done-slots.js'
import { type JobName, PERIOD_SECONDS } from './periods.js'

/** What has been read of the searches of a job, to continue from. `revisions` changes with every rollback and change of history. */
export type ReadSearches = { stretches: readonly SearchedStretch[]; revisions: string }

/**
 * The stretches of time that a job has searched and that no rollback or backfill has affected since, in order: its results
 * are valid in them. With `known_at`, as it was then. With `before`, reads only the days since, unless history has changed.
 * Rejects with QueryError.
 */
export async function readSearches(
  clickhouse: ClickHouseClient,
  { job, known_at = null, before }: { job: JobName; known_at?: Date | null; before?: ReadSearches | null },
  options?: ReadOptions,
): Promise<ReadSearches> {
  const from_time = before?.stretches.at(-1)?.until ?? 0
  const period_seconds = PERIOD_SECONDS[job]
  const jobs = [{ name: job, period_seconds }]
  const done = await readDoneSlots(clickhouse, { jobs, from_time, known_at }, options)
  const revisions = JSON.stringify(done.revisions.map(({ kept_time, revision }) => [kept_time, revision]))
  const stretches = doneStretches(done.runsOf(job), done.revisions, period_seconds)
  if (from_time === 0 || !before) return { stretches, revisions }
  if (revisions !== before.revisions) return readSearches(clickhouse, { job, known_at }, options)
  return { stretches: joined(before.stretches, stretches), revisions }
}

/** Two lists of stretches, the second of which begins in the last of the first or later. */
function joined(earlier: readonly SearchedStretch[], later: readonly SearchedStretch[]): readonly SearchedStretch[] {
  const last = earlier.at(-1)
  const laterSlots = later.flatMap(({ from, until }) =>
    last && until <= last.until ? [] : [{ from: Math.max(from, last?.until ?? from), until }],
  )
  const [next] = laterSlots
  if (!last || next?.from !== last.until) return [...earlier, ...laterSlots]
  return [...earlier.slice(0, -1), { from: last.from, until: next.until }, ...laterSlots.slice(1)]
}
