import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineOptionalRow, defineQuery, onlyColumn } from '../store/define-query.js'

/**
 * The slots of a job with `from_time` < time < `to_time`, in unix seconds, that it has not completed since the last
 * rollback or change of history that may have affected them: oldest first, at most `limit`.
 */
export const dueSlots = defineQuery({
  name: 'due_slots',
  params: z.object({
    job: z.string(),
    period_seconds: z.int().positive(),
    from_time: z.int(),
    to_time: z.int(),
    limit: z.int().positive(),
  }),
  row: onlyColumn('slot_at', z.int()),
  sql: `
    WITH
        runs AS
        (
            SELECT 1 AS one, toUnixTimestamp(slot_at) AS slot_at, revision
            FROM job_runs WHERE job = {job: String} AND state = 'done'
        ),
        -- The revision that a slot has to have from a time on, which is a step function: a join finds the step at once.
        changes AS
        (
            SELECT 1 AS one, toUnixTimestamp(kept_time) AS kept_time, max(revision) OVER (ORDER BY kept_time) AS revision
            FROM history_revisions WHERE is_done
        ),
        done AS
        (
            SELECT runs.slot_at FROM runs ASOF LEFT JOIN changes ON runs.one = changes.one AND runs.slot_at >= changes.kept_time
            WHERE runs.revision >= changes.revision
        )
    SELECT toUInt32(number * {period_seconds: UInt32}) AS slot_at
    FROM numbers(intDiv({from_time: UInt32}, {period_seconds: UInt32}) + 1,
                 greatest(0, intDiv({to_time: UInt32} - 1, {period_seconds: UInt32}) - intDiv({from_time: UInt32}, {period_seconds: UInt32})))
    WHERE slot_at NOT IN done
    ORDER BY slot_at LIMIT {limit: UInt32}`,
})

/**
 * The times between which slots may be due, both excluded, in unix seconds, and the current revision; null before the
 * first block. Several blocks may have the same time, so the facts up to a slot are complete only once a later block is
 * ingested. While blocks are being rolled back, slots that may lose facts are not due.
 *
 * Slots begin at `from_time`, the start of the tip or of the oldest change of history, whichever is earlier. Older
 * blocks are still being backfilled, or their backfill has not been recorded as a change yet. `first_time` is the time
 * of the first block. `is_whole`: no block is missing between the first and the newest.
 */
export const slotBounds = defineOptionalRow({
  name: 'slot_bounds',
  row: z.object({
    from_time: z.int(),
    to_time: z.int(),
    revision: z.int(),
    first_time: z.int(),
    is_whole: z.boolean(),
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
           (count() = max(block_number) - min(block_number) + 1)::Bool AS is_whole
    FROM blocks HAVING count() > 0`,
})
