import { z } from 'zod'
import { STANDS } from '../jobs/standing-snapshot.js'
import { defineQuery } from '../store/define-query.js'

/** The times of a stable's first and newest risk snapshot, in unix seconds; nothing before the first. */
export const riskSpan = defineQuery({
  name: 'risk_span',
  params: z.object({ stable: z.string() }),
  row: z.object({ oldest: z.int(), newest: z.int() }),
  sql: `
    SELECT toUnixTimestamp(min(slot_at)) AS oldest, toUnixTimestamp(max(slot_at)) AS newest
    FROM risk_snapshots
    WHERE stable = {stable: String} AND ${STANDS}
    HAVING count() > 0`,
})
