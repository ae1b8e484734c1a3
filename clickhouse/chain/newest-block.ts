import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** The newest block whose facts are all in; nothing before the first. */
export const newestBlock = defineQuery({
  name: 'newest_block',
  params: z.object({}),
  row: z.object({ block_number: z.int(), block_time: dateTime }),
  sql: `
    SELECT toUInt32(block_number) AS block_number, block_time
    FROM blocks ORDER BY blocks.block_number DESC LIMIT 1`,
})
