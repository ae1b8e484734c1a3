import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * The slots of a job with `from_time` < time < `to_time`, in unix seconds, that it has not done since the last rollback
 * or change of history that may have met them: oldest first, at most `limit`.
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
  row: z.object({ slot_at: z.int() }),
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
