import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The number of the newest change of history; 0 where there never was one. */
export const newestHistoryChange = defineQuery({
  name: 'newest_history_change',
  params: z.object({}),
  row: z.object({ sequence_number: z.int() }),
  sql: 'SELECT toUInt32(max(sequence_number)) AS sequence_number FROM history_changes',
})
