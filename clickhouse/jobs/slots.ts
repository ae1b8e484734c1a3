import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DAY_SECONDS, END_OF_TIME } from '../../process/instants.js'
import { wholeSince } from '../chain/history.js'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn, type QuerySignal } from '../store/define-query.js'
import type { SlotJob } from './periods.js'
import { KnownAt } from './publications.js'

const SlotRange = z.object({
  job: z.string(),
  period_seconds: z.int().positive(),
  from_time: z.int(),
  to_time: z.int(),
  known_at: KnownAt,
})

/** The runs of a job on or after the day of `from_time` that ended well, in the words of migration 0039. */
const FROM_DAY = `
            FROM job_runs
            WHERE job = {job: String} AND state = 'done' AND toDate(slot_at) >= toDate(toDateTime({from_time: UInt32}, 'UTC'))`

const WHOLE_DAYS = `
        whole_days AS
        (
            SELECT toUInt32(toDate(slot_at)) AS day ${FROM_DAY}
              AND revision >= arrayMax(arrayPushBack(arrayMap(change -> if(change.1 < (toUInt32(toDate(slot_at)) + 1) * ${DAY_SECONDS}, change.2, 0), history), 0))
            GROUP BY toDate(slot_at)
            HAVING groupBitmap(toUnixTimestamp(slot_at) % ${DAY_SECONDS}) = intDiv(${DAY_SECONDS}, {period_seconds: UInt32})
               AND max(addMilliseconds(started_at, duration_ms)) <= {known_at: DateTime64(3)}
        ),
        other_days AS
        (
            SELECT toDate(slot_at) AS day ${FROM_DAY}
            GROUP BY toDate(slot_at) HAVING toUInt32(day) NOT IN (SELECT day FROM whole_days)
        )`

const doneSlots = (wholeDays: string, isRead: string) => `
    WITH
        (
            SELECT arraySort(groupArray((toUnixTimestamp(kept_time), revision))) FROM history_revisions
            WHERE recorded_at <= {known_at: DateTime64(3)} AND (is_done OR {known_at: DateTime64(3)} <= now64(3))
        ) AS history,
        ${wholeDays},
        runs AS
        (
            SELECT 1 AS one, toUnixTimestamp(slot_at) AS slot_at, revision
            FROM job_runs
            WHERE job = {job: String} AND state = 'done' AND job_runs.slot_at > toDateTime({from_time: UInt32}) AND ${isRead}
              AND addMilliseconds(started_at, duration_ms) <= {known_at: DateTime64(3)}
        ),
        -- The revision that a slot has to have from a time on, which is a step function: a join finds the step at once.
        changes AS
        (
            SELECT 1 AS one, change.1 AS kept_time, max(change.2) OVER (ORDER BY change.1) AS revision
            FROM (SELECT arrayJoin(history) AS change)
        ),
        done AS
        (
            SELECT DISTINCT runs.slot_at AS slot_at
            FROM runs ASOF LEFT JOIN changes ON runs.one = changes.one AND runs.slot_at >= changes.kept_time
            WHERE runs.revision >= changes.revision
        )`

/**
 * A WITH clause for the slots of a job after `from_time` that it has completed since the last rollback or change of
 * history that may have affected them: `whole_days`, all of whose slots are, and `done`, the others in unix seconds. With
 * `known_at`, as it was then: rollbacks count from the moment at which they were planned. `history` are the revisions
 * that this is based on. Reads a row for each day, and single runs only of days that are not whole.
 */
export const DONE_SLOTS = doneSlots(WHOLE_DAYS, 'toDate(job_runs.slot_at) IN (SELECT day FROM other_days)')

/** The same, all of them in `done`: reads less where `from_time` is only minutes ago. */
export const NEWLY_DONE_SLOTS = doneSlots('whole_days AS (SELECT toUInt32(0) AS day WHERE false)', '1')

/** A subquery for the slots of a job with `from_time` < time < `to_time`, in unix seconds, that are not done. */
const UNDONE_SLOTS = `${DONE_SLOTS}
    SELECT toUInt32(slot) AS slot_at
    FROM
    (
        SELECT arrayJoin(range(number * ${DAY_SECONDS}, (number + 1) * ${DAY_SECONDS}, {period_seconds: UInt32})) AS slot
        FROM numbers(intDiv({from_time: UInt32}, ${DAY_SECONDS}),
                     greatest(0, intDiv({to_time: UInt32} - 1, ${DAY_SECONDS}) - intDiv({from_time: UInt32}, ${DAY_SECONDS}) + 1))
        WHERE number NOT IN (SELECT day FROM whole_days)
    )
    WHERE slot > {from_time: UInt32} AND slot < {to_time: UInt32} AND slot NOT IN done`

/**
 * The undone slots of a job between two times, both excluded, in unix seconds: at most `limit`, the oldest ones, or the newest with
 * `newest_first`. The oldest comes first in any case.
 */
export const dueSlots = defineQuery({
  name: 'due_slots',
  params: SlotRange.extend({ limit: z.int().positive(), newest_first: z.boolean().default(false) }),
  row: onlyColumn('slot_at', z.int()),
  sql: `
    SELECT slot_at FROM
    (
        ${UNDONE_SLOTS}
        ORDER BY if({newest_first: Bool}, -toInt64(slot_at), toInt64(slot_at)) LIMIT {limit: UInt32}
    )
    ORDER BY slot_at`,
})

/** How many slots of a job between two times, both excluded, are undone, and the oldest of them; null if none is. */
const undoneSlots = defineRow({
  name: 'undone_slots',
  params: SlotRange,
  row: z.object({ slots: z.int(), oldest_at: z.int().nullable() }),
  sql: `SELECT toUInt32(count()) AS slots, minOrNull(slot_at) AS oldest_at FROM (${UNDONE_SLOTS})`,
})

/**
 * The times between which slots may be due, both excluded, in unix seconds, and the current revision; null before the
 * first block. Several blocks may have the same time, so the facts up to a slot are complete only once a later block is
 * ingested. While blocks are being rolled back, slots that may lose facts are not due.
 *
 * Slots begin at `from_time`, the start of the tip or of the oldest change of history, whichever is earlier. Older
 * blocks are still being backfilled, or their backfill has not been recorded as a change yet. `first_time` is the time
 * of the first block. `is_whole`: no block is missing between the first and the newest. `has_first`: the first block is
 * the chain's first.
 */
export const slotBounds = defineOptionalRow({
  name: 'slot_bounds',
  row: z.object({
    from_time: z.int(),
    to_time: z.int(),
    revision: z.int(),
    first_time: z.int(),
    is_whole: z.boolean(),
    has_first: z.boolean(),
  }),
  sql: `
    WITH
        (SELECT (maxIf(revision, is_done), minIf(toUnixTimestamp(kept_time), NOT is_done), countIf(NOT is_done)) FROM history_revisions) AS revisions,
        ifNull((SELECT from_block FROM ingest_batches WHERE track = 'tip' ORDER BY sequence_number LIMIT 1), 0) AS tip_start,
        (SELECT block_time FROM blocks WHERE block_number >= tip_start ORDER BY blocks.block_number LIMIT 1) AS tip_time,
        (SELECT minOrNull(kept_time) FROM history_changes) AS changed_time
    SELECT greatest(first_time, least(ifNull(toUnixTimestamp(tip_time), ${END_OF_TIME}), ifNull(toUnixTimestamp(changed_time), ${END_OF_TIME}))) AS from_time,
           least(toUnixTimestamp(max(block_time)), if(revisions.3 > 0, revisions.2, ${END_OF_TIME})) AS to_time,
           toUInt32(revisions.1) AS revision,
           toUnixTimestamp(min(block_time)) AS first_time,
           (count() = max(block_number) - min(block_number) + 1)::Bool AS is_whole,
           (min(block_number) <= 1)::Bool AS has_first
    FROM blocks HAVING count() > 0`,
})

/** What `slotBounds` has, and since when everything is read up to the newest block: 0 if since the chain's first block. */
export type SlotHistory = NonNullable<Awaited<ReturnType<typeof slotBounds>>> & { read_since: number }

/** Between which times slots may be due, and how much history there is; null before the first block. */
export async function slotHistory(
  clickhouse: ClickHouseClient,
  options?: { signal?: QuerySignal },
): Promise<SlotHistory | null> {
  const bounds = await slotBounds(clickhouse, options)
  if (!bounds) return null
  const { is_whole, has_first, first_time, to_time } = bounds
  if (is_whole) return { ...bounds, read_since: has_first ? 0 : first_time }
  return { ...bounds, read_since: (await wholeSince(clickhouse, options)) ?? to_time }
}

/**
 * Why the slots of a job up to some time wait: the history that they need is not read completely, blocks after them are
 * missing, or a backfill that adds blocks has not ended yet.
 */
export const WAIT_REASONS = ['history_not_read', 'blocks_missing', 'backfill_running'] as const
export type WaitReason = (typeof WAIT_REASONS)[number]

/**
 * The time up to which slots of a job are not due, itself included, in unix seconds, and why earlier ones are not.
 * Facts that a backfill will still add could change what they find.
 */
export function waitingUntil(
  { history_seconds = 0 }: Pick<SlotJob, 'history_seconds'>,
  { from_time, read_since }: Pick<SlotHistory, 'from_time' | 'read_since'>,
): { until: number; reason: WaitReason } {
  const needed = read_since === 0 ? 0 : read_since + history_seconds
  if (needed > from_time) return { until: needed, reason: history_seconds > 0 ? 'history_not_read' : 'blocks_missing' }
  return { until: from_time, reason: 'backfill_running' }
}

/**
 * How far a job is behind the newest block with slots that do not wait, given how far it is with all, in seconds; null if
 * that is null.
 */
export function dueLag(job: SlotJob, history: SlotHistory | null, lag_seconds: number | null): number | null {
  if (lag_seconds === null || !history) return lag_seconds
  return Math.min(lag_seconds, Math.max(0, history.to_time - waitingUntil(job, history).until))
}

/**
 * How many slots a job has done since the change of history because of which a slot has to be done, given that slot in unix
 * seconds; without such a change, how many it has ever done. A slot that was done repeatedly counts once. Reads a row for each
 * day (migration 0039).
 */
const slotsDoneSince = defineRow({
  name: 'slots_done_since',
  params: z.object({ job: z.string(), slot_at: z.int() }),
  row: onlyColumn('slots', z.int()),
  sql: `
    WITH (SELECT max(revision) FROM history_revisions WHERE is_done AND toUnixTimestamp(kept_time) <= {slot_at: UInt32}) AS began
    SELECT toUInt32(sum(slots_of_day)) AS slots
    FROM
    (
        SELECT groupBitmap(toUnixTimestamp(slot_at) % ${DAY_SECONDS}) AS slots_of_day
        FROM job_runs WHERE job = {job: String} AND state = 'done' AND revision >= began
        GROUP BY toDate(slot_at)
    )`,
})

/** The slots that a job could do now: how many, the oldest, and how many are done since the change that made it due. */
export type DueSlots = { slots: number; oldest_at: Date; done: number }

/**
 * The slots that a job could do now; null if there are none. After a backfill or a rollback, these are also the ones that have to
 * be done again.
 */
export async function countDueSlots(
  clickhouse: ClickHouseClient,
  job: SlotJob,
  history: SlotHistory,
  options?: { signal?: QuerySignal },
): Promise<DueSlots | null> {
  const { name, period_seconds } = job
  const from_time = Math.max(history.from_time, waitingUntil(job, history).until)
  const range = { job: name, period_seconds, from_time, to_time: history.to_time }
  const { slots, oldest_at } = await undoneSlots(clickhouse, range, options)
  if (oldest_at === null) return null
  const done = await slotsDoneSince(clickhouse, { job: name, slot_at: oldest_at }, options)
  return { slots, oldest_at: new Date(oldest_at * 1000), done }
}

/**
 * How many slots of a job up to the newest block wait, why, and up to which time, itself included; null if none does.
 */
export async function waitingSlots(
  clickhouse: ClickHouseClient,
  job: SlotJob,
  history: SlotHistory,
  options?: { signal?: QuerySignal },
): Promise<{ slots: number; reason: WaitReason; until: Date } | null> {
  const { until, reason } = waitingUntil(job, history)
  const { first_time, to_time } = history
  if (until <= first_time) return null
  const { name, period_seconds } = job
  const range = { job: name, period_seconds, from_time: first_time, to_time: Math.min(until + 1, to_time) }
  const { slots } = await undoneSlots(clickhouse, range, options)
  return slots > 0 ? { slots, reason, until: new Date(until * 1000) } : null
}
