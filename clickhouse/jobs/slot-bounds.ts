import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * Between which times slots may be due, both ends excluded, in unix seconds, and under which revision; nothing before
 * the first block. Several blocks may have one time, so the facts up to a slot are all in once a later block is. While
 * blocks are being rolled back, what may lose its facts is not due.
 *
 * Slots begin at `from_time`, where the tip began or the oldest change of history: what is behind that, a backfill is
 * still adding, or nobody has looked at yet. `first_time` is that of the first block; `is_whole`: no block is missing
 * between the first and the newest.
 */
export const slotBounds = defineQuery({
  name: 'slot_bounds',
  params: z.object({}),
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
    SELECT greatest(first_time, least(ifNull(toUnixTimestamp(tip_time), 0xffffffff), ifNull(toUnixTimestamp(changed_time), 0xffffffff))) AS from_time,
           least(toUnixTimestamp(max(block_time)), if(revisions.3 > 0, revisions.2, 0xffffffff)) AS to_time,
           toUInt32(revisions.1) AS revision,
           toUnixTimestamp(min(block_time)) AS first_time,
           (count() = max(block_number) - min(block_number) + 1)::Bool AS is_whole
    FROM blocks HAVING count() > 0`,
})
