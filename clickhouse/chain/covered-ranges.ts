import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { END_OF_TIME } from '../../process/instants.js'
import { defineQuery, type QuerySignal } from '../store/define-query.js'
import { FAMILIES } from './batches.js'

/** Later rows of the ledger are ignored; by default, none are. */
export const recorded_by = z.date().default(new Date(END_OF_TIME * 1000))

const CoveredRange = z.object({
  family: z.enum(FAMILIES),
  stables: z.array(z.string()),
  from_block: z.int(),
  to_block: z.int(),
})
export type CoveredRange = z.infer<typeof CoveredRange>

/**
 * The same as `coveredRanges`, but may leave out batches that contain none of the blocks from `from_block` to
 * `to_block`. With `by_backfills` it leaves out the batches of the tip.
 */
export const coveredRangesWithin = defineQuery({
  name: 'coverage',
  params: z.object({ from_block: z.int(), to_block: z.int(), by_backfills: z.boolean().default(false), recorded_by }),
  row: CoveredRange,
  sql: `
    WITH
        (SELECT groupUniqArray((after_sequence, kept_block)) FROM ingest_rollbacks WHERE recorded_at <= {recorded_by: DateTime64(3)}) AS rollbacks
    SELECT family, stables, toUInt32(min(from_block)) AS from_block, toUInt32(max(last_block)) AS to_block
    FROM
    (
        SELECT family, stables, from_block, last_block,
               sum(begins) OVER (PARTITION BY family, stables ORDER BY from_block, last_block) AS island
        FROM
        (
            SELECT family, stables, from_block, last_block,
                   from_block > 1 + max(last_block) OVER (PARTITION BY family, stables ORDER BY from_block, last_block
                                                          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
            FROM
            (
                SELECT arrayJoin(families) AS family, arraySort(if(family IN ('pegs', 'state'), stables, [])) AS stables, from_block,
                       if(track = 'tip', arrayMin(arrayPushBack(arrayMap(r -> if(r.1 >= sequence_number, r.2, to_block), rollbacks), to_block)),
                          to_block) AS last_block
                FROM ingest_batches
                WHERE state = 'committed' AND recorded_at <= {recorded_by: DateTime64(3)} AND to_block >= {from_block: UInt64} AND ingest_batches.from_block <= {to_block: UInt64}
                  AND (track != 'tip' OR NOT {by_backfills: Bool})
            )
            WHERE last_block >= from_block
        )
    )
    GROUP BY family, stables, island
    ORDER BY family, from_block, stables`,
})

/**
 * The ingested ranges of blocks, both ends included, by family, oldest first; adjacent ranges are merged. `stables` is
 * empty if the range is ingested for every stable. Blocks that a rollback removed do not count.
 */
export const coveredRanges = (
  clickhouse: ClickHouseClient,
  params: { recorded_by?: Date | undefined } = {},
  options?: { signal?: QuerySignal },
): Promise<CoveredRange[]> =>
  coveredRangesWithin(clickhouse, { from_block: 0, to_block: Number.MAX_SAFE_INTEGER, ...params }, options)
