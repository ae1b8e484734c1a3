import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * The time of the first block behind which none is missing up to the newest, in unix seconds; nothing before the first
 * block. Reads all blocks where some are missing, which is while a backfill runs.
 */
export const wholeSince = defineQuery({
  name: 'whole_since',
  params: z.object({}),
  row: z.object({ from_time: z.int() }),
  sql: `
    SELECT toUnixTimestamp(maxIf(block_time, block_number != before + 1)) AS from_time
    FROM
    (
        SELECT block_number, block_time, lagInFrame(block_number, 1, block_number) OVER (ORDER BY block_number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
        FROM blocks
    )
    HAVING count() > 0`,
})
