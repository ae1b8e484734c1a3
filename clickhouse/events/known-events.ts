import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** Those of `ids` that are in the log. */
export const knownEvents = defineQuery({
  name: 'known_events',
  params: z.object({ ids: z.array(z.string()) }),
  row: z.object({ id: z.string() }),
  sql: 'SELECT DISTINCT id FROM events WHERE id IN {ids: Array(String)}',
})
