import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'

/**
 * A change of history: a backfill has added facts that slots did not see. The columns are described in clickhouse/schema.
 * Times in unix seconds.
 */
export type HistoryChange = {
  sequence_number: number
  backfill_sequence: number
  kept_time: number
  after_rollback: number
}

/** Records a change of history. A second one with the same number changes nothing, whatever its contents. */
export function insertHistoryChange(clickhouse: ClickHouseClient, change: HistoryChange): Promise<void> {
  return insertRows(clickhouse, 'history_changes', [change], `${change.sequence_number}`)
}

/** The number of the newest change of history; 0 if there is none. */
export const newestHistoryChange = defineRow({
  name: 'newest_history_change',
  row: onlyColumn('sequence_number', z.int()),
  sql: 'SELECT toUInt32(max(sequence_number)) AS sequence_number FROM history_changes',
})

/** Every change of history, oldest first. Times in unix seconds. */
export const allHistoryChanges = defineQuery({
  name: 'all_history_changes',
  row: z.object({ sequence_number: z.int(), kept_time: z.int(), after_rollback: z.int() }),
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUnixTimestamp(kept_time) AS kept_time, toUInt32(after_rollback) AS after_rollback
    FROM history_changes ORDER BY history_changes.sequence_number`,
})

/**
 * The batches of completed backfills that no recorded change of history includes: the number of the newest of these
 * batches, and the times of their oldest and newest block, in unix seconds. Null if there are none, and while a
 * backfill runs: that is while a batch is unfinished or the newest was recorded less than `quiet_seconds` ago.
 * `after_rollback` is the newest rollback.
 */
export const unaccountedBackfill = defineOptionalRow({
  name: 'unaccounted_backfill',
  params: z.object({ quiet_seconds: z.int().nonnegative() }),
  row: z.object({
    backfill_sequence: z.int(),
    oldest_time: z.int(),
    newest_time: z.int(),
    after_rollback: z.int(),
  }),
  sql: `
    WITH
        (SELECT max(backfill_sequence) FROM history_changes) AS accounted,
        (
            SELECT (max(sequence_number), maxIf(sequence_number, state = 'committed'), min(from_block), max(to_block), max(recorded_at))
            FROM ingest_batches WHERE track = 'backfill' AND sequence_number > accounted
        ) AS batches,
        (SELECT block_time FROM blocks WHERE block_number >= batches.3 ORDER BY blocks.block_number LIMIT 1) AS oldest,
        (SELECT block_time FROM blocks WHERE block_number <= batches.4 ORDER BY blocks.block_number DESC LIMIT 1) AS newest
    SELECT toUInt32(batches.1) AS backfill_sequence, toUnixTimestamp(assumeNotNull(oldest)) AS oldest_time,
           toUnixTimestamp(assumeNotNull(newest)) AS newest_time,
           (SELECT toUInt32(max(sequence_number)) FROM ingest_rollbacks) AS after_rollback
    FROM (SELECT 1)
    WHERE batches.1 > 0 AND batches.1 = batches.2 AND oldest IS NOT NULL AND newest IS NOT NULL
      AND dateDiff('second', batches.5, now64(3)) >= {quiet_seconds: UInt32}`,
})
