import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The times of the oldest and the newest block that are in, in unix seconds; nothing before the first. */
export const chainSpan = defineQuery({
  name: 'chain_span',
  params: z.object({}),
  row: z.object({ oldest: z.int(), newest: z.int() }),
  sql: `
    SELECT toUnixTimestamp(min(block_time)) AS oldest, toUnixTimestamp(max(block_time)) AS newest
    FROM blocks HAVING count() > 0`,
})
