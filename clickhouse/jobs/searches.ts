import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS } from '../../process/instants.js'
import type { SearchedStretch } from '../chain/searched.js'
import { defineRow, type QuerySignal } from '../store/define-query.js'
import { type JobName, PERIOD_SECONDS } from './periods.js'
import { KnownAt } from './publications.js'
import { DONE_SLOTS, NEWLY_DONE_SLOTS } from './slots.js'

const stretchesOf = (name: string, doneSlots: string) =>
  defineRow({
    name,
    params: z.object({ job: z.string(), period_seconds: z.int().positive(), from_time: z.int(), known_at: KnownAt }),
    row: z.object({ stretches: z.array(z.object({ from: z.int(), until: z.int() })), revisions: z.string() }),
    sql: `${doneSlots},
        parts AS
        (
            SELECT greatest(day * ${DAY_SECONDS}, (intDiv({from_time: UInt32}, {period_seconds: UInt32}) + 1) * {period_seconds: UInt32})::UInt32 AS first,
                   ((day + 1) * ${DAY_SECONDS} - {period_seconds: UInt32})::UInt32 AS last
            FROM whole_days WHERE last > {from_time: UInt32}
            UNION ALL
            SELECT slot_at AS first, slot_at AS last FROM done
        )
    SELECT
        (
            SELECT arraySort(stretch -> stretch.1, groupArray(CAST((first_slot - {period_seconds: UInt32}, last_slot), 'Tuple(from UInt32, until UInt32)')))
            FROM
            (
                SELECT min(first) AS first_slot, max(last) AS last_slot
                FROM
                (
                    SELECT *, sum(first - {period_seconds: UInt32} != before) OVER (ORDER BY first) AS island
                    FROM (SELECT *, lagInFrame(last) OVER (ORDER BY first) AS before FROM parts)
                )
                GROUP BY island
            )
        ) AS stretches,
        toString(cityHash64(history)) AS revisions`,
  })

/**
 * The stretches of time whose slots a job has completed, of those after `from_time`, and a mark that changes with every
 * rollback and change of history. A slot stands for the time since the slot before it.
 */
const searchedStretches = stretchesOf('searched_stretches', DONE_SLOTS)

/** The same, from a time that is only minutes ago. */
const newlySearchedStretches = stretchesOf('newly_searched_stretches', NEWLY_DONE_SLOTS)

/** What has been read of the searches of a job, to continue from. `revisions` is the mark of the history it is about. */
export type ReadSearches = { stretches: readonly SearchedStretch[]; revisions: string }

/**
 * The stretches of time that a job has searched and that no rollback or backfill has affected since, in order: its results
 * are valid in them. With `known_at`, as it was then. Reads a row for each day, and the runs of days
 * that are not whole; with `before`, only later runs, unless history has changed since. Rejects with QueryError.
 */
export async function readSearches(
  clickhouse: ClickHouseClient,
  { job, known_at, before }: { job: JobName; known_at?: Date | null; before?: ReadSearches | null },
  options?: { signal?: QuerySignal },
): Promise<ReadSearches> {
  const from_time = before?.stretches.at(-1)?.until ?? 0
  const asked = { job, period_seconds: PERIOD_SECONDS[job], from_time, known_at }
  const read = from_time === 0 ? searchedStretches : newlySearchedStretches
  const { stretches, revisions } = await read(clickhouse, asked, options)
  if (from_time === 0 || !before) return { stretches, revisions }
  if (revisions !== before.revisions) return readSearches(clickhouse, { job, known_at: known_at ?? null }, options)
  return { stretches: joined(before.stretches, stretches), revisions }
}

/** Two lists of stretches, the second of which is later. */
function joined(earlier: readonly SearchedStretch[], later: readonly SearchedStretch[]): readonly SearchedStretch[] {
  const [last, next] = [earlier.at(-1), later[0]]
  if (!last || !next) return earlier
  if (next.from > last.until) return [...earlier, ...later]
  return [...earlier.slice(0, -1), { from: last.from, until: next.until }, ...later.slice(1)]
}
