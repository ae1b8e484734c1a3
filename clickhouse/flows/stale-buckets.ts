import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * How many buckets of flows, of the windows that begin between two times, both included, do not count their flows, and
 * how many edges have a flow in there that is before the first one noted of them.
 */
export const staleBuckets = defineQuery({
  name: 'stale_buckets',
  params: z.object({ first: z.int(), last: z.int() }),
  row: z.object({ stale: z.int() }),
  sql: `
    WITH found AS
    (
        SELECT from_token, to_token, toDateTime(intDiv(toUnixTimestamp(block_time), 900) * 900, 'UTC') AS bucket, count() AS flow_number
        FROM flows
        WHERE kind != 'bridge' AND block_time >= toDateTime({first: UInt32}, 'UTC')
          AND toUnixTimestamp(block_time) < (toUInt64(intDiv({last: UInt32}, 900)) + 1) * 900
        GROUP BY from_token, to_token, bucket
    )
    SELECT toUInt32(count()) AS stale
    FROM
    (
        SELECT from_token, to_token, bucket
        FROM
        (
            SELECT from_token, to_token, window_start AS bucket, toInt64(flow_count) AS surplus
            FROM flow_buckets
            WHERE window_start BETWEEN toDateTime({first: UInt32}, 'UTC') AND toDateTime({last: UInt32}, 'UTC')
            UNION ALL
            SELECT from_token, to_token, bucket, -flow_number FROM found
        )
        GROUP BY ALL
        HAVING sum(surplus) != 0
        UNION ALL
        SELECT from_token, to_token, min(bucket)
        FROM found
        LEFT JOIN
        (
            SELECT from_token, to_token, toNullable(min(first_window)) AS first_bucket FROM flow_edge_starts GROUP BY from_token, to_token
        ) AS starts USING (from_token, to_token)
        WHERE first_bucket IS NULL OR first_bucket > bucket
        GROUP BY from_token, to_token
    )`,
})
