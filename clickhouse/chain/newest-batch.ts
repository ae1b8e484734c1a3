import { z } from 'zod'
import { FAMILIES } from '../facts/facts.js'
import { defineQuery } from '../store/define-query.js'

const BatchRow = z.object({
  sequence_number: z.int(),
  from_block: z.int(),
  to_block: z.int(),
  last_hash: z.string(),
  writer: z.string(),
  committed: z.boolean(),
  families: z.array(z.enum(FAMILIES)),
  stables: z.array(z.string()),
})

const newest = (state: string) => `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(any(from_block)) AS from_block, toUInt32(any(to_block)) AS to_block,
           any(last_hash) AS last_hash, anyIf(writer, state = 'planned') AS writer, max(state = 'committed')::Bool AS committed,
           any(families) AS families, any(stables) AS stables
    FROM ingest_batches
    WHERE track = {track: String}
      AND sequence_number = (SELECT max(sequence_number) FROM ingest_batches WHERE track = {track: String} AND ${state})
    GROUP BY sequence_number`

/** The newest batch of a track, which may be planned only; nothing for a track that never began. */
export const newestBatch = defineQuery({
  name: 'newest_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newest('1'),
})

/** The newest batch of a track whose facts were all in, though a rollback may have removed them. */
export const newestCommittedBatch = defineQuery({
  name: 'newest_committed_batch',
  params: z.object({ track: z.string() }),
  row: BatchRow,
  sql: newest("state = 'committed'"),
})
