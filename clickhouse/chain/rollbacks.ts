import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow, defineQuery } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'

/** The removal of all blocks after `kept_block`; the columns are described in clickhouse/schema. Times in unix seconds. */
const IngestRollback = z.object({
  sequence_number: z.int(),
  kept_block: z.int(),
  kept_hash: z.string(),
  kept_time: z.int(),
  removed_to: z.int(),
  after_sequence: z.int(),
  reason: z.string(),
  writer: z.string(),
})
export type IngestRollback = z.infer<typeof IngestRollback>

/** Records that a rollback is planned. A second plan with the same number changes nothing, as with batches. */
export function insertPlannedRollback(clickhouse: ClickHouseClient, rollback: IngestRollback): Promise<void> {
  const rows = [{ ...rollback, state: 'planned' }]
  return insertRows(clickhouse, 'ingest_rollbacks', rows, `${rollback.sequence_number}`)
}

/** Records that all facts of the removed blocks are gone. Safe to repeat. */
export function insertDoneRollback(clickhouse: ClickHouseClient, rollback: IngestRollback): Promise<void> {
  return insertRows(clickhouse, 'ingest_rollbacks', [{ ...rollback, state: 'done' }], randomUUID())
}

/** Every rollback, oldest first. Times in unix seconds. */
export const allRollbacks = defineQuery({
  name: 'all_rollbacks',
  row: z.object({ sequence_number: z.int(), kept_time: z.int(), is_done: z.boolean() }),
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUnixTimestamp(any(kept_time)) AS kept_time, max(state = 'done')::Bool AS is_done
    FROM ingest_rollbacks GROUP BY sequence_number ORDER BY sequence_number`,
})

/** The newest rollback, which may only be planned; null if there is none. Its time in unix seconds. */
export const newestRollback = defineOptionalRow({
  name: 'newest_rollback',
  row: IngestRollback.extend({ done: z.boolean() }),
  sql: `
    SELECT toUInt32(sequence_number) AS sequence_number, toUInt32(any(kept_block)) AS kept_block, any(kept_hash) AS kept_hash,
           toUnixTimestamp(any(kept_time)) AS kept_time, toUInt32(any(removed_to)) AS removed_to,
           toUInt32(any(after_sequence)) AS after_sequence, any(reason) AS reason,
           anyIf(writer, state = 'planned') AS writer, max(state = 'done')::Bool AS done
    FROM ingest_rollbacks
    WHERE sequence_number = (SELECT max(sequence_number) FROM ingest_rollbacks)
    GROUP BY sequence_number`,
})
