import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { BlockRanges, IN_RANGES } from './block-ranges.js'

/**
 * Blocks in these ranges that are there twice, are no child of the block with the number before, or come after one that
 * is missing, with the block before them in the ranges; the first hundred.
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
