import { z } from 'zod'
import { defineQuery } from '../define-query.js'

/**
 * Between which times slots may be due, both ends excluded, in unix seconds, and under which revision; nothing before
 * the first block. `is_whole`: no block is missing between the first and the newest. Several blocks may have one time, so the facts up to a slot are all in once a later block is. While
 * blocks are being rolled back, what may lose its facts is not due.
 */
export const slotBounds = defineQuery({
  name: 'slot_bounds',
  params: z.object({}),
  row: z.object({ from_time: z.int(), to_time: z.int(), revision: z.int(), is_whole: z.boolean() }),
  sql: `
    WITH
        (
            SELECT (maxIf(sequence_number, is_done), minIf(toUnixTimestamp(kept_time), NOT is_done), countIf(NOT is_done))
            FROM (SELECT sequence_number, any(kept_time) AS kept_time, max(state = 'done') AS is_done
                  FROM ingest_rollbacks GROUP BY sequence_number)
        ) AS rollbacks
    SELECT toUnixTimestamp(min(block_time)) AS from_time, toUInt32(rollbacks.1) AS revision,
           least(toUnixTimestamp(max(block_time)), if(rollbacks.3 > 0, rollbacks.2, 0xffffffff)) AS to_time,
           (count() = max(block_number) - min(block_number) + 1)::Bool AS is_whole
    FROM blocks HAVING count() > 0`,
})
