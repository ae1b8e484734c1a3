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
 * Records that a batch is planned, or that all of its facts are in. A number is planned once only: a second plan of
 * the same number, whatever its range, changes nothing, and its author finds the first one's row.
 */
export function insertIngestBatch(
  clickhouse: ClickHouseClient,
  state: 'planned' | 'committed',
  batch: IngestBatch,
): Promise<void> {
  const row = { ...batch, state }
  return insertRows(clickhouse, 'ingest_batches', [row], `${batch.track}:${batch.sequence_number}:${state}`)
}
