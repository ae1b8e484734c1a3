import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { dateTime } from '../store/values.js'

/** The time of the oldest block that is in; nothing before the first. Costs the same whatever the length of history. */
export const historyStart = defineQuery({
  name: 'history_start',
  params: z.object({}),
  row: z.object({ started_at: dateTime }),
  sql: 'SELECT min(block_time) AS started_at FROM blocks HAVING count() > 0',
})
