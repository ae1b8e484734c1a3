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
 * For each track, thousand of sequence numbers, families and stables, the range of the committed batches, and whether they
 * fill it without a gap, an overlap or a repetition: the hashes of all ends but the first and the last cancel out only then.
 * The engine keeps this beside the rows, as long as it is asked for in these words (migration 0034).
 */
const THOUSANDS = `
    SELECT track, intDiv(sequence_number, 1000) AS thousand, families, stables,
           min(sequence_number) AS first_number, max(sequence_number) AS last_number, min(from_block) AS first_block,
           max(to_block) AS last_block, min(recorded_at) AS first_recorded, max(recorded_at) AS last_recorded,
           sum(cityHash64(to_block + 1) - cityHash64(from_block)) = cityHash64(max(to_block) + 1) - cityHash64(min(from_block)) AS is_filled
    FROM ingest_batches WHERE state = 'committed'
    GROUP BY track, thousand, families, stables`

/**
 * The same as `coveredRanges`, but may leave out batches that contain none of the blocks from `from_block` to
 * `to_block`. With `by_backfills` it leaves out the batches of the tip. Reads a row for each thousand batches, and the
 * batches themselves only where they do not follow each other, or where some were recorded or rolled back later.
 */
export const coveredRangesWithin = defineQuery({
  name: 'coverage',
  params: z.object({ from_block: z.int(), to_block: z.int(), by_backfills: z.boolean().default(false), recorded_by }),
  row: CoveredRange,
  sql: `
    WITH
        (SELECT groupUniqArray((after_sequence, kept_block)) FROM ingest_rollbacks WHERE recorded_at <= {recorded_by: DateTime64(3)}) AS rollbacks,
        thousands AS
        (
            SELECT *, is_filled AND last_recorded <= {recorded_by: DateTime64(3)}
                      AND NOT (track = 'tip' AND arrayExists(r -> r.1 >= first_number AND r.1 < last_number, rollbacks)) AS is_whole
            FROM (${THOUSANDS})
            WHERE first_recorded <= {recorded_by: DateTime64(3)} AND last_block >= {from_block: UInt64} AND first_block <= {to_block: UInt64}
              AND (track != 'tip' OR NOT {by_backfills: Bool})
        ),
        batches AS
        (
            SELECT track, families, stables, last_number AS number, first_block, last_block FROM thousands WHERE is_whole
            UNION ALL
            SELECT track, families, stables, sequence_number AS number, from_block AS first_block, to_block AS last_block FROM ingest_batches
            WHERE state = 'committed' AND recorded_at <= {recorded_by: DateTime64(3)}
              AND (track, intDiv(sequence_number, 1000)) IN (SELECT track, thousand FROM thousands WHERE NOT is_whole)
              AND to_block >= {from_block: UInt64} AND from_block <= {to_block: UInt64}
        )
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
                SELECT arrayJoin(families) AS family, arraySort(if(family IN ('pegs', 'state'), batches.stables, [])) AS stables, first_block AS from_block,
                       if(track = 'tip', arrayMin(arrayPushBack(arrayMap(r -> if(r.1 >= number, r.2, batches.last_block), rollbacks), batches.last_block)),
                          batches.last_block) AS last_block
                FROM batches
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
