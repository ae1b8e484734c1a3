import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * Buckets of flows, of windows that were over by a time in unix seconds, that are not what their flows add up to, and
 * edges that did not begin where they are said to. The first ten, with how many there are in all.
 */
export const differingBuckets = defineQuery({
  name: 'differing_buckets',
  params: z.object({ to: z.int() }),
  row: z.object({ edge: z.string(), bucket: z.string(), differing: z.int() }),
  sql: `
    WITH toDateTime(intDiv({to: UInt32}, 900) * 900, 'UTC') AS until
    SELECT concat(from_token, ' to ', to_token) AS edge, toString(bucket) AS bucket, toUInt32(count() OVER ()) AS differing
    FROM
    (
        SELECT DISTINCT what, from_token, to_token, bucket
        FROM
        (
            SELECT 'bucket' AS what, from_token, to_token, window_start AS bucket, sum(volume_micros) AS volume,
                   sum(flow_count) AS flow_number, sum(unpriced_count) AS unpriced, uniqExactMerge(tx_count) AS transactions, 1 AS side
            FROM flow_buckets WHERE window_start < until GROUP BY from_token, to_token, window_start
            UNION ALL
            SELECT 'bucket', from_token, to_token, toStartOfFifteenMinutes(block_time) AS bucket, ifNull(sum(usd_micros), 0),
                   count(), countIf(usd_micros IS NULL), uniqExact(tx_hash), -1
            FROM flows WHERE block_time < until AND kind != 'bridge' GROUP BY from_token, to_token, bucket
            UNION ALL
            SELECT 'start', from_token, to_token, min(first_window), 0, 0, 0, 0, 1
            FROM flow_edge_starts GROUP BY from_token, to_token HAVING min(first_window) < until
            UNION ALL
            SELECT 'start', from_token, to_token, toStartOfFifteenMinutes(min(block_time)), 0, 0, 0, 0, -1
            FROM flows WHERE block_time < until AND kind != 'bridge' GROUP BY from_token, to_token
        )
        GROUP BY what, from_token, to_token, bucket, volume, flow_number, unpriced, transactions
        HAVING sum(side) != 0
    )
    ORDER BY from_token, to_token, bucket
    LIMIT 10`,
})
