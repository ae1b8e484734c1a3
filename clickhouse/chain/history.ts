import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineRow, onlyColumn } from '../store/define-query.js'
import { dateTime } from '../store/values.js'
import { TIP } from './batches.js'
import { FIRST_BLOCK } from './missing.js'

/** The time of the oldest ingested block; null before the first. The cost does not grow with history. */
export const historyStart = defineOptionalRow({
  name: 'history_start',
  row: onlyColumn('started_at', dateTime),
  sql: 'SELECT min(block_time) AS started_at FROM blocks HAVING count() > 0',
})

/** How many block numbers are counted together in the search for a hole. */
const COUNTED_BLOCKS = 100_000

/**
 * The time of the first block after which no block is missing up to the newest, in unix seconds; null before the first
 * block. Reads the numbers of all blocks, and only where the newest hole is, one after the other. Call it only if some are
 * missing, as while a backfill runs.
 */
export const wholeSince = defineOptionalRow({
  name: 'whole_since',
  row: onlyColumn('from_time', z.int()),
  sql: `
    WITH
        (
            SELECT argMax((lowest, before), lowest)
            FROM
            (
                SELECT lowest, highest, blocks, lagInFrame(highest, 1, lowest) OVER (ORDER BY lowest ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
                FROM
                (
                    SELECT min(block_number) AS lowest, max(block_number) AS highest, count() AS blocks
                    FROM blocks GROUP BY intDiv(block_number, ${COUNTED_BLOCKS})
                )
            )
            WHERE lowest != before + 1 OR blocks != highest - lowest + 1
        ) AS holed
    SELECT toUnixTimestamp(maxIf(block_time, block_number != before + 1)) AS from_time
    FROM
    (
        SELECT block_number, block_time, lagInFrame(block_number, 1, ifNull(holed.2, 0)) OVER (ORDER BY block_number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
        FROM blocks WHERE block_number >= holed.1 AND block_number < holed.1 + ${COUNTED_BLOCKS}
    )
    HAVING count() > 0`,
})

/**
 * Where the part of history begins that nothing writes to any more: the tip's first block (null before it), the block after the
 * last range known to be missing, and when a backfill or a rollback last wrote. Each comes from its table's index.
 */
const writtenHistory = defineRow({
  name: 'written_history',
  row: z.object({
    tip_start: z.int().nullable(),
    gaps_end: z.int(),
    touched_at: z.string(),
    touched_ago: z.int(),
  }),
  sql: `
    SELECT (SELECT toUInt32(minOrNull(from_block)) FROM ingest_batches WHERE track = '${TIP}' AND sequence_number = 1) AS tip_start,
           (SELECT toUInt32(if(count() = 0, 0, max(to_block) + 1)) FROM ingest_gaps) AS gaps_end,
           greatest(ifNull(max(newest), toDateTime64(0, 3)), (SELECT max(recorded_at) FROM ingest_rollbacks)) AS touched,
           toString(touched) AS touched_at, toUInt32(greatest(0, dateDiff('second', touched, now64(3)))) AS touched_ago
    FROM (SELECT track, max(recorded_at) AS newest FROM ingest_batches WHERE track != '${TIP}' GROUP BY track)`,
})

/** The time of the first block from a number on, and of the newest block, in unix seconds; null if there is none. */
const timesFrom = defineOptionalRow({
  name: 'times_from',
  params: z.object({ start_block: z.int() }),
  row: z.object({ from_time: z.int(), newest_time: z.int() }),
  sql: `
    SELECT toUnixTimestamp(block_time) AS from_time, toUnixTimestamp((SELECT max(block_time) FROM blocks)) AS newest_time
    FROM blocks WHERE block_number >= {start_block: UInt64} ORDER BY block_number LIMIT 1`,
})

/**
 * The part of history that is complete and that nothing writes to any more, in unix seconds: it begins with the first
 * block of the tip, or after the last range known to be missing if that is later. Backfilled blocks never count, since
 * a backfill may have read only some families. `from_block` is that block, and with `is_from_start` no block of the chain
 * is before it. `touched_at` is when a backfill or a rollback last wrote, and `touched_ago` how long ago that was, in
 * seconds. Null before the tip's first block. The cost does not grow with history.
 */
export async function settledSpan(clickhouse: ClickHouseClient) {
  const { tip_start, gaps_end, ...touched } = await writtenHistory(clickhouse)
  if (tip_start === null) return null
  const from_block = Math.max(tip_start, gaps_end)
  const times = await timesFrom(clickhouse, { start_block: from_block })
  return times && { from_block, is_from_start: from_block <= FIRST_BLOCK, ...times, ...touched }
}

/**
 * The block in which a stable was created, 0 if that is unknown, and its first sample, with its time in unix seconds; null
 * without a sample. The cost does not grow with history. Only a backfill or a rollback changes it, once it is not null.
 */
export const firstSample = defineOptionalRow({
  name: 'first_sample',
  params: z.object({ stable: z.string() }),
  row: z.object({ created: z.int(), block: z.int(), time: z.int() }),
  sql: `
    SELECT toUInt32((SELECT min(block_number) FROM stablecoins WHERE stable = {stable: String})) AS created,
           toUInt32(block_number) AS block, toUnixTimestamp(block_time) AS time
    FROM peg_samples WHERE stable = {stable: String}
    ORDER BY peg_samples.stable, peg_samples.block_time, peg_samples.block_number LIMIT 1`,
})
