import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/** The first block that a track has planned; nothing for a track that never began. */
export const trackStart = defineQuery({
  name: 'track_start',
  params: z.object({ track: z.string() }),
  row: z.object({ first_block: z.int() }),
  sql: `
    SELECT toUInt32(min(from_block)) AS first_block
    FROM ingest_batches WHERE track = {track: String}
    HAVING count() > 0`,
})
