import { z } from 'zod'
import { defineOptionalRow, onlyColumn } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

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
 * The part of history that is complete and that nothing writes to any more, in unix seconds: it begins with the first
 * block of the tip, or after the last range known to be missing if that is later. Backfilled blocks never count, since
 * a backfill may have read only some families. `from_block` is that block, and with `is_from_start` no block of the chain
 * is before it. `touched_at` is when a backfill or a rollback last wrote, and `touched_ago` how long ago that was, in
 * seconds. Null before the tip's first block.
 */
export const settledSpan = defineOptionalRow({
  name: 'settled_span',
  row: z.object({
    from_block: z.int(),
    from_time: z.int(),
    newest_time: z.int(),
    is_from_start: z.boolean(),
    touched_at: z.string(),
    touched_ago: z.int(),
  }),
  // Each of these comes from its table's index, so that the cost does not grow with history.
  sql: `
    WITH
        (SELECT if(count() = 0, toUInt64(18446744073709551615), min(from_block)) FROM ingest_batches
         WHERE track = 'tip' AND sequence_number = 1) AS tip_start,
        (SELECT if(count() = 0, 0, max(to_block) + 1) FROM ingest_gaps) AS gaps_end,
        greatest(tip_start, gaps_end) AS start_block,
        (SELECT block_time FROM blocks WHERE block_number >= start_block ORDER BY blocks.block_number LIMIT 1) AS first_time,
        (SELECT max(block_time) FROM blocks) AS last_time,
        (SELECT max(newest) FROM (SELECT track, max(recorded_at) AS newest FROM ingest_batches WHERE track != 'tip' GROUP BY track)) AS backfilled_at,
        (SELECT max(recorded_at) FROM ingest_rollbacks) AS rolled_back_at
    SELECT toUInt32(assumeNotNull(start_block)) AS from_block, toUnixTimestamp(assumeNotNull(first_time)) AS from_time, toUnixTimestamp(assumeNotNull(last_time)) AS newest_time,
           toBool(start_block <= 1) AS is_from_start,
           toString(greatest(backfilled_at, rolled_back_at)) AS touched_at,
           toUInt32(greatest(0, dateDiff('second', greatest(backfilled_at, rolled_back_at), now64(3)))) AS touched_ago
    FROM (SELECT 1) WHERE first_time IS NOT NULL`,
})

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
