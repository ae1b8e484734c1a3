import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The first and the last block that are in, and how many are missing between them; nothing before the first. */
export const blockTotals = defineQuery({
  name: 'block_totals',
  params: z.object({}),
  row: z.object({ first_block: z.int(), last_block: z.int(), missing: z.int() }),
  sql: `
    SELECT toUInt32(min(block_number)) AS first_block, toUInt32(max(block_number)) AS last_block,
           toUInt32(last_block - first_block + 1 - count()) AS missing
    FROM blocks HAVING count() > 0`,
})
