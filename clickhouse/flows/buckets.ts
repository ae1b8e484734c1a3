import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { rebuildRange } from '../store/rebuild.js'

/** Flows between two stables are stored and scored in aligned windows of this length. */
export const FLOW_WINDOW_SECONDS = 900

/** The beginning of the window that a time in unix seconds lies in. */
export const windowOf = (time: number): number => Math.floor(time / FLOW_WINDOW_SECONDS) * FLOW_WINDOW_SECONDS

/** The window that a flow at this time, an expression, lies in. */
const windowStart = (time: string): string =>
  `toDateTime(intDiv(toUnixTimestamp(${time}), ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}, 'UTC')`

/** The window of a flow. */
export const WINDOW_START = windowStart('block_time')

/**
 * The buckets of the flows that match `where`: the same computation that flow_buckets_mv applies to an insert. The
 * numbers of transactions of several inserts add up, because a transaction lies in one block, whose flows are one insert.
 */
export const flowBucketsOf = (where = ''): string => `
  SELECT ${WINDOW_START} AS window_start, from_token, to_token, ifNull(sum(usd_micros), 0) AS volume_micros,
         count() AS flow_count, countIf(usd_micros IS NULL) AS unvalued_count,
         sumIf(toUInt256(amount_in_raw), usd_micros IS NULL) AS unvalued_in_raw,
         sumIf(toUInt256(amount_out_raw), usd_micros IS NULL) AS unvalued_out_raw, uniqExact(tx_hash) AS transaction_count
  FROM flows
  WHERE kind != 'bridge' ${where}
  GROUP BY window_start, from_token, to_token`

/**
 * The starts of the edges in the flows that match `where`: the same computation that flow_edge_starts_mv applies to an
 * insert.
 */
export const flowEdgeStartsOf = (where = ''): string => `
  SELECT from_token, to_token, ${windowStart('min(block_time)')} AS first_window
  FROM flows
  WHERE kind != 'bridge' ${where}
  GROUP BY from_token, to_token`

const IN_RANGE = `
  AND block_time >= toDateTime({first: UInt32}, 'UTC')
  AND toUnixTimestamp(block_time) < (toUInt64(intDiv({last: UInt32}, ${FLOW_WINDOW_SECONDS})) + 1) * ${FLOW_WINDOW_SECONDS}`

/** Inserts the buckets of the windows that begin from `first` to `last`, both included, into `table`. */
export const fillFlowBuckets = (table: string): string => `
  INSERT INTO ${table} (window_start, from_token, to_token, volume_micros, flow_count, unvalued_count, unvalued_in_raw, unvalued_out_raw, transaction_count)
  ${flowBucketsOf(IN_RANGE)}`

/** Inserts the starts of edges in the windows that begin from `first` to `last`, both included, into `table`. */
export const fillFlowEdgeStarts = (table: string): string => `
  INSERT INTO ${table} (from_token, to_token, first_window)
  ${flowEdgeStartsOf(IN_RANGE)}`

/**
 * Rebuilds, from the flows, the buckets of the windows that begin between two times in unix seconds, both included, and
 * the starts of edges in that range. An edge that began earlier keeps its start. Safe to repeat, and must be repeated
 * if it fails, because buckets may be missing then. Rejects with QueryError.
 */
export function rebuildFlowBuckets(
  clickhouse: ClickHouseClient,
  range: { first: number; last: number },
): Promise<void> {
  const times = "BETWEEN toDateTime({first: UInt32}, 'UTC') AND toDateTime({last: UInt32}, 'UTC')"
  return rebuildRange(clickhouse, 'flow_buckets', range, [
    `DELETE FROM flow_buckets WHERE window_start ${times}`,
    `DELETE FROM flow_edge_starts WHERE first_window ${times}`,
    fillFlowBuckets('flow_buckets'),
    fillFlowEdgeStarts('flow_edge_starts'),
  ])
}

/**
 * Of the windows that begin between two times, both included: how many buckets have a flow count that differs from
 * their flows, plus how many edges have a flow before their recorded start.
 */
export const staleBuckets = defineRow({
  name: 'stale_buckets',
  params: z.object({ first: z.int(), last: z.int() }),
  row: onlyColumn('stale', z.int()),
  sql: `
    WITH found AS
    (
        SELECT from_token, to_token, ${WINDOW_START} AS bucket, count() AS flow_number
        FROM flows
        WHERE kind != 'bridge' ${IN_RANGE}
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

/**
 * Flow buckets of windows that ended by a time in unix seconds whose values differ from the sums of their flows, and
 * edges whose recorded start is wrong. The first ten, with the total number in `differing`.
 */
export const differingBuckets = defineQuery({
  name: 'differing_buckets',
  params: z.object({ to: z.int() }),
  row: z.object({ edge: z.string(), bucket: z.string(), differing: z.int() }),
  sql: `
    WITH toDateTime(intDiv({to: UInt32}, ${FLOW_WINDOW_SECONDS}) * ${FLOW_WINDOW_SECONDS}, 'UTC') AS until
    SELECT concat(from_token, ' to ', to_token) AS edge, toString(bucket) AS bucket, toUInt32(count() OVER ()) AS differing
    FROM
    (
        SELECT DISTINCT what, from_token, to_token, bucket
        FROM
        (
            SELECT 'bucket' AS what, from_token, to_token, window_start AS bucket, sum(volume_micros) AS volume,
                   sum(flow_count) AS flow_number,
                   (sum(unvalued_count), sum(unvalued_in_raw), sum(unvalued_out_raw)) AS unvalued,
                   sum(transaction_count) AS transactions, 1 AS side
            FROM flow_buckets WHERE window_start < until GROUP BY from_token, to_token, window_start
            UNION ALL
            SELECT 'bucket', from_token, to_token, toStartOfFifteenMinutes(block_time) AS bucket, ifNull(sum(usd_micros), 0),
                   count(), (countIf(usd_micros IS NULL), sumIf(toUInt256(amount_in_raw), usd_micros IS NULL),
                             sumIf(toUInt256(amount_out_raw), usd_micros IS NULL)), uniqExact(tx_hash), -1
            FROM flows WHERE block_time < until AND kind != 'bridge' GROUP BY from_token, to_token, bucket
            UNION ALL
            SELECT 'start', from_token, to_token, min(first_window), 0, 0, (0, 0, 0), 0, 1
            FROM flow_edge_starts GROUP BY from_token, to_token HAVING min(first_window) < until
            UNION ALL
            SELECT 'start', from_token, to_token, toStartOfFifteenMinutes(min(block_time)), 0, 0, (0, 0, 0), 0, -1
            FROM flows WHERE block_time < until AND kind != 'bridge' GROUP BY from_token, to_token
        )
        GROUP BY what, from_token, to_token, bucket, volume, flow_number, unvalued, transactions
        HAVING sum(side) != 0
    )
    ORDER BY from_token, to_token, bucket
    LIMIT 10`,
})
