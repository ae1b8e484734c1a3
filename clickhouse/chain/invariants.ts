import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** Ranges of block numbers, both ends included, as a query's parameter. */
export const BlockRanges = z.array(z.tuple([z.int(), z.int()]))

/** The condition that `block_number` lies in one of the parameter `ranges`. */
export const IN_RANGES = 'arrayExists(r -> block_number BETWEEN r[1] AND r[2], {ranges: Array(Array(UInt64))})'

/** For each range of blocks, its first block and how many of its block numbers are stored. */
export const blockCounts = defineQuery({
  name: 'block_counts',
  params: z.object({ ranges: BlockRanges }),
  row: z.object({ from_block: z.int(), blocks: z.int() }),
  sql: `
    SELECT toUInt32(range[1]) AS from_block, toUInt32(uniqExactIf(block_number, block_number >= range[1] AND block_number <= range[2])) AS blocks
    FROM blocks
    RIGHT JOIN (SELECT arrayJoin({ranges: Array(Array(UInt64))}) AS range) AS wanted ON 1
    GROUP BY range
    ORDER BY from_block`,
})

/**
 * The first hundred blocks in these ranges that are stored twice, are not a child of the previous block, or follow a
 * missing one; each with the stored block before it.
 */
export const brokenLinks = defineQuery({
  name: 'broken_links',
  params: z.object({ ranges: BlockRanges }),
  row: z.object({ block_number: z.int(), previous_number: z.int() }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, toUInt32(previous_number) AS previous_number
    FROM
    (
        SELECT block_number, parent_hash,
               lagInFrame(block_number) OVER chain AS previous_number, lagInFrame(block_hash) OVER chain AS previous_hash
        FROM blocks
        WHERE ${IN_RANGES}
        WINDOW chain AS (ORDER BY block_number ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
    )
    WHERE previous_hash != '' AND (previous_number != block_number - 1 OR previous_hash != parent_hash)
    ORDER BY block_number
    LIMIT 100`,
})
