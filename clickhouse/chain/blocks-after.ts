import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** How many blocks there are after `after`. */
export const blocksAfter = defineQuery({
  name: 'blocks_after',
  params: z.object({ after: z.date() }),
  row: z.object({ blocks: z.int() }),
  sql: 'SELECT toUInt32(count()) AS blocks FROM blocks WHERE block_time > {after: DateTime}',
})
