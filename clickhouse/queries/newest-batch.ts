import { z } from 'zod'
import { defineQuery } from '../define-query.js'

const BatchRow = z.object({
  sequence_number: z.int(),
  from_block: z.int(),
  to_block: z.int(),
  last_hash: z.string(),
  writer: z.string(),
  committed: z.boolean(),
})

/** The newest batch of a track, which may be planned only; nothing for a track that never began. */
export const newestBatch = defineQuery({
  name: 'newest_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(any(from_block)) AS from_block, toUInt32(any(to_block)) AS to_block,
           any(last_hash) AS last_hash, anyIf(writer, state = 'planned') AS writer, max(state = 'committed')::Bool AS committed
    FROM ingest_batches
    WHERE track = {track: String} AND sequence_number = (SELECT max(sequence_number) FROM ingest_batches WHERE track = {track: String})
    GROUP BY sequence_number`,
})
