import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'

/**
 * How much the ledger of ingest says: it grows with whatever is written. `is_open` where a batch or a rollback is
 * half-done, or an insert is running.
 */
export const writerMark = defineQuery({
  name: 'writer_mark',
  params: z.object({}),
  row: z.object({ batches: z.int(), rollbacks: z.int(), is_open: z.boolean() }),
  sql: `
    SELECT toUInt32((SELECT count() FROM ingest_batches)) AS batches, toUInt32((SELECT count() FROM ingest_rollbacks)) AS rollbacks,
           (
               (SELECT count() FROM (
                   SELECT track FROM ingest_batches GROUP BY track
                   HAVING maxIf(sequence_number, state = 'committed') < max(sequence_number)
               ))
               + (SELECT count() FROM (SELECT sequence_number FROM ingest_rollbacks GROUP BY sequence_number HAVING max(state) = 'planned'))
               + (SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase())
               > 0
           )::Bool AS is_open`,
})
