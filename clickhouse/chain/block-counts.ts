import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { BlockRanges } from './block-ranges.js'

/** Of each range of blocks its first block and how many of its block numbers are there. */
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
