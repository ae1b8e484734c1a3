import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../insert-rows.js'

/** A block range, both ends included, that ingest takes in as a whole. `sequence_number` counts from 1 in each track. */
export type IngestBatch = {
  track: string
  sequence_number: number
  from_block: number
  to_block: number
  last_hash: string
  writer: string
}

/**
 * Records that a batch is planned. A number is planned once only: a second plan of the same number, whatever its
 * range, changes nothing, and its author finds the first one's row.
 */
export function insertPlannedBatch(clickhouse: ClickHouseClient, batch: IngestBatch): Promise<void> {
  return insertRows(
    clickhouse,
    'ingest_batches',
    [{ ...batch, state: 'planned' }],
    `${batch.track}:${batch.sequence_number}`,
  )
}

/** Records that all facts of a batch are in. Doing so twice means the same as once. */
export function insertCommittedBatch(clickhouse: ClickHouseClient, batch: IngestBatch): Promise<void> {
  return insertRows(clickhouse, 'ingest_batches', [{ ...batch, state: 'committed' }], randomUUID())
}
