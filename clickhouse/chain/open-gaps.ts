import { z } from 'zod'
import { FAMILIES } from '../facts/facts.js'
import { defineQuery } from '../store/define-query.js'

/**
 * The declared gaps that are there still, oldest first, those that meet as one: ranges of blocks, both ends included, of
 * which a family could not be read, and why. One is closed when backfills have taken in all of it for every stable. Of
 * logs, a gap means that flows are without a value, and stays.
 */
export const openGaps = defineQuery({
  name: 'open_gaps',
  params: z.object({}),
  row: z.object({ family: z.enum(FAMILIES), from_block: z.int(), to_block: z.int(), reason: z.string() }),
  sql: `
    WITH
        batches AS
        (
            SELECT arrayJoin(families) AS family, from_block, to_block
            FROM ingest_batches WHERE state = 'committed' AND track != 'tip' AND empty(stables)
        ),
        islands AS
        (
            SELECT family, min(from_block) AS first, max(to_block) AS last
            FROM
            (
                SELECT family, from_block, to_block, sum(begins) OVER (PARTITION BY family ORDER BY from_block, to_block) AS island
                FROM
                (
                    SELECT family, from_block, to_block,
                           from_block > 1 + max(to_block) OVER (PARTITION BY family ORDER BY from_block, to_block
                                                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
                    FROM batches
                )
            )
            GROUP BY family, island
        ),
        (SELECT groupArray((family, first, last)) FROM islands) AS filled,
        declared AS
        (
            SELECT family, from_block, to_block, argMax(ingest_gaps.reason, recorded_at) AS reason
            FROM ingest_gaps GROUP BY family, from_block, to_block
        ),
        gaps AS
        (
            SELECT * FROM declared
            WHERE family = 'logs' OR NOT arrayExists(range -> range.1 = family AND range.2 <= from_block AND range.3 >= to_block, filled)
        )
    SELECT family, toUInt32(min(gap_from)) AS from_block, toUInt32(max(gap_to)) AS to_block, reason
    FROM
    (
        SELECT family, reason, from_block AS gap_from, to_block AS gap_to,
               sum(begins) OVER (PARTITION BY family, reason ORDER BY from_block, to_block) AS gap
        FROM
        (
            SELECT family, reason, from_block, to_block,
                   from_block > 1 + max(to_block) OVER (PARTITION BY family, reason ORDER BY from_block, to_block
                                                        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
            FROM gaps
        )
    )
    GROUP BY family, reason, gap
    ORDER BY family, from_block, reason`,
})
