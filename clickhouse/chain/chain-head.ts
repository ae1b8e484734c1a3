import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** The newest block that ingest may read, by its node's last word, and when that was; nothing before the first. */
export const chainHead = defineQuery({
  name: 'chain_head',
  params: z.object({}),
  row: z.object({ tag: z.string(), block_number: z.int(), block_time: dateTime, seen_at: dateTime }),
  sql: `
    SELECT tag, toUInt32(block_number) AS block_number, block_time, seen_at
    FROM chain_heads ORDER BY chain_heads.seen_at DESC LIMIT 1`,
})
