import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** How many blocks are missing between the first and the newest. */
export const missingBlockCount = defineQuery({
  name: 'missing_block_count',
  params: z.object({}),
  row: z.object({ missing: z.int() }),
  sql: 'SELECT toUInt32(if(count() = 0, 0, max(block_number) - min(block_number) + 1 - count())) AS missing FROM blocks',
})
