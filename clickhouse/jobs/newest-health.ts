import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The newest event of each part of the service that was ever told of, and the state it told of. */
export const newestHealth = defineQuery({
  name: 'newest_health',
  params: z.object({}),
  row: z.object({ component: z.string(), id: z.string(), status: z.string() }),
  sql: `
    SELECT subject AS component, argMax(id, sequence_number) AS id, JSONExtractString(argMax(data, sequence_number), 'status') AS status
    FROM events WHERE type = 'system.health_drift'
    GROUP BY subject`,
})
