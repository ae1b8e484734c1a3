import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The edges of which a slot of a revision before `revision` has found the window that begins at `window_start`. */
export const outdatedAnomalies = defineQuery({
  name: 'outdated_anomalies',
  params: z.object({ window_start: z.date(), revision: z.int() }),
  row: z.object({ from_token: z.string(), to_token: z.string() }),
  // Without FINAL, so that a repeat finds again what it has taken back.
  sql: `
    SELECT DISTINCT from_token, to_token FROM flow_anomalies
    WHERE window_start = {window_start: DateTime} AND revision < {revision: UInt32} AND is_deleted = 0
    ORDER BY from_token, to_token`,
})
