import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The inserts into this database that are running, by query id. */
export const runningInserts = defineQuery({
  name: 'running_inserts',
  params: z.object({}),
  row: z.object({ query_id: z.string() }),
  sql: `
    SELECT query_id FROM system.processes
    WHERE query_kind = 'Insert' AND current_database = currentDatabase()`,
})
