import { z } from 'zod'
import { BlockRanges, IN_RANGES } from '../chain/block-ranges.js'
import { defineQuery } from '../store/define-query.js'

/** How many samples a stable has in these ranges of blocks, and of how many blocks they are. */
export const sampleCounts = defineQuery({
  name: 'sample_counts',
  params: z.object({ stable: z.string(), ranges: BlockRanges }),
  row: z.object({ samples: z.int(), sampled_blocks: z.int() }),
  sql: `
    SELECT toUInt32(count()) AS samples, toUInt32(uniqExact(block_number)) AS sampled_blocks
    FROM peg_samples WHERE stable = {stable: String} AND ${IN_RANGES}`,
})
