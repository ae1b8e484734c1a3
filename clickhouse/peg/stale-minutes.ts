import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** How many minute states, of the minutes that end between two times, both included, do not count their samples. */
export const staleMinutes = defineQuery({
  name: 'stale_minutes',
  params: z.object({ first: z.int(), last: z.int() }),
  row: z.object({ minutes: z.int() }),
  sql: `
    SELECT toUInt32(count()) AS minutes
    FROM
    (
        SELECT stable, end
        FROM
        (
            SELECT stable, minute_end AS end, toInt64(quoted_count + unquoted_count) AS samples
            FROM peg_minutes
            WHERE minute_end BETWEEN {first: UInt32} AND {last: UInt32}
            UNION ALL
            SELECT stable, toStartOfMinute(block_time + 59), -1
            FROM peg_samples
            WHERE block_time > {first: UInt32} - 60 AND block_time <= {last: UInt32}
        )
        GROUP BY stable, end
        HAVING sum(samples) != 0
    )`,
})
