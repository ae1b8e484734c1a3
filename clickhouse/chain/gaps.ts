import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'
import { FAMILIES, type Family } from './batches.js'

/** A range of blocks, both ends included, of which a family could not be read, and why. */
export type IngestGap = { family: Family; from_block: number; to_block: number; reason: string }

/** Records gaps. Of several reasons for the same range the newest counts. */
export const insertIngestGaps = (clickhouse: ClickHouseClient, gaps: readonly IngestGap[]): Promise<void> =>
  insertRows(clickhouse, 'ingest_gaps', gaps, randomUUID())

const DeclaredGap = z.object({
  family: z.enum(FAMILIES),
  from_block: z.int(),
  to_block: z.int(),
  reason: z.string(),
})
export type DeclaredGap = z.infer<typeof DeclaredGap>

/**
 * The ranges of blocks, both ends included, that were tried and could not be read, oldest first, with the newest reason.
 * What was read since then is still among them: `coveredRanges` knows.
 */
export const declaredGaps = defineQuery({
  name: 'declared_gaps',
  row: DeclaredGap,
  sql: `
    SELECT family, toUInt32(from_block) AS from_block, toUInt32(to_block) AS to_block, argMax(reason, recorded_at) AS reason
    FROM ingest_gaps
    GROUP BY family, from_block, to_block
    ORDER BY family, from_block, to_block`,
})

/** How many blocks are missing between the first and the newest. */
export const missingBlockCount = defineRow({
  name: 'missing_block_count',
  row: onlyColumn('missing', z.int()),
  sql: 'SELECT toUInt32(if(count() = 0, 0, max(block_number) - min(block_number) + 1 - count())) AS missing FROM blocks',
})

/** Both ends included. */
type BlockRange = { from_block: number; to_block: number }

/** The ranges in order, those that meet or overlap as one. */
function merged(ranges: readonly BlockRange[]): BlockRange[] {
  const whole: BlockRange[] = []
  for (const { from_block, to_block } of ranges.toSorted((a, b) => a.from_block - b.from_block)) {
    const last = whole.at(-1)
    if (last && from_block <= last.to_block + 1) last.to_block = Math.max(last.to_block, to_block)
    else whole.push({ from_block, to_block })
  }
  return whole
}

/** How many blocks of `gaps` are in none of the ranges of `covered`. */
export function missingBlocks(gaps: readonly BlockRange[], covered: readonly BlockRange[]): number {
  const known = merged(covered)
  let missing = 0
  for (const gap of merged(gaps)) {
    missing += gap.to_block - gap.from_block + 1
    for (const range of known) {
      const from = Math.max(gap.from_block, range.from_block)
      const to = Math.min(gap.to_block, range.to_block)
      if (from <= to) missing -= to - from + 1
    }
  }
  return missing
}

/**
 * The declared gaps that are there still, oldest first, those that meet as one: ranges of blocks, both ends included, of
 * which a family could not be read, and why. One is closed when backfills have taken in all of it for every stable. Of
 * logs, a gap means that flows are without a value, and stays.
 */
export const openGaps = defineQuery({
  name: 'open_gaps',
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
