import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The number of the newest event; 0 while there is none. */
export const newestEvent = defineQuery({
  name: 'newest_event',
  params: z.object({}),
  row: z.object({ sequence: z.int() }),
  sql: 'SELECT toUInt32(max(sequence_number)) AS sequence FROM events',
})
