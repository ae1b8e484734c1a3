import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** The removal of all blocks after `kept_block`; the columns are described in the migration. Times in unix seconds. */
export type IngestRollback = {
  sequence_number: number
  kept_block: number
  kept_hash: string
  kept_time: number
  removed_to: number
  after_sequence: number
  reason: string
  writer: string
}

/** Records that a rollback is planned. A second plan of the same number changes nothing, as with batches. */
export function insertPlannedRollback(clickhouse: ClickHouseClient, rollback: IngestRollback): Promise<void> {
  const rows = [{ ...rollback, state: 'planned' }]
  return insertRows(clickhouse, 'ingest_rollbacks', rows, `${rollback.sequence_number}`)
}

/** Records that nothing of the removed blocks is left. Doing so twice means the same as once. */
export function insertDoneRollback(clickhouse: ClickHouseClient, rollback: IngestRollback): Promise<void> {
  return insertRows(clickhouse, 'ingest_rollbacks', [{ ...rollback, state: 'done' }], randomUUID())
}
