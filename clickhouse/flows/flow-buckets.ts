import type { ClickHouseClient } from '@clickhouse/client'
import { QueryError } from '../store/query-error.js'

/** Flows between two stables are kept by aligned windows of this length. */
const WINDOW_SECONDS = 900

const IN_RANGE = `
  kind != 'bridge' AND block_time >= toDateTime({first: UInt32}, 'UTC')
  AND toUnixTimestamp(block_time) < (toUInt64(intDiv({last: UInt32}, ${WINDOW_SECONDS})) + 1) * ${WINDOW_SECONDS}`

/** The beginning of the window that a time in unix seconds lies in. */
export const windowOf = (time: number): number => Math.floor(time / WINDOW_SECONDS) * WINDOW_SECONDS

/** What flow_buckets_mv computes of an insert, here of all flows in the windows that begin from `first` to `last`. */
export const fillFlowBuckets = (table: string): string => `
  INSERT INTO ${table} (window_start, from_token, to_token, volume_micros, flow_count, unpriced_count, tx_count)
  SELECT toDateTime(intDiv(toUnixTimestamp(block_time), ${WINDOW_SECONDS}) * ${WINDOW_SECONDS}, 'UTC') AS window_start,
         from_token, to_token, ifNull(sum(usd_micros), 0), count(), countIf(usd_micros IS NULL), uniqExactState(tx_hash)
  FROM flows
  WHERE ${IN_RANGE}
  GROUP BY window_start, from_token, to_token`

/** What flow_edge_starts_mv computes of an insert, here of all flows in the windows that begin from `first` to `last`. */
export const fillFlowEdgeStarts = (table: string): string => `
  INSERT INTO ${table} (from_token, to_token, first_window)
  SELECT from_token, to_token, toDateTime(intDiv(toUnixTimestamp(min(block_time)), ${WINDOW_SECONDS}) * ${WINDOW_SECONDS}, 'UTC')
  FROM flows
  WHERE ${IN_RANGE}
  GROUP BY from_token, to_token`

/**
 * Makes the buckets of the windows that begin between two times in unix seconds, both included, anew from their flows,
 * and the edges' starts that lie in there. An edge that began before keeps its start. May be repeated, and is to be
 * repeated when it fails: half-way, buckets are missing. Rejects with QueryError.
 */
export async function rebuildFlowBuckets(
  clickhouse: ClickHouseClient,
  query_params: { first: number; last: number },
): Promise<void> {
  const range = "BETWEEN toDateTime({first: UInt32}, 'UTC') AND toDateTime({last: UInt32}, 'UTC')"
  try {
    await clickhouse.command({ query: `DELETE FROM flow_buckets WHERE window_start ${range}`, query_params })
    await clickhouse.command({ query: `DELETE FROM flow_edge_starts WHERE first_window ${range}`, query_params })
    for (const query of [fillFlowBuckets('flow_buckets'), fillFlowEdgeStarts('flow_edge_starts')]) {
      // Not to be taken for the insert of another rebuild of the same windows.
      await clickhouse.command({ query, query_params, clickhouse_settings: { insert_deduplicate: 0 } })
    }
  } catch (cause) {
    throw new QueryError('rebuild flow_buckets', cause)
  }
}
