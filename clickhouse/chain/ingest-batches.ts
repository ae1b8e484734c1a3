import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Family } from '../facts/facts.js'
import { insertRows } from '../store/insert.js'

/**
 * A block range, both ends included, of which ingest takes in some families of facts as a whole. Pegs and state of
 * `stables` only, or where that is empty, of all that are not in yet. `sequence_number` counts from 1 in each track.
 */
export type IngestBatch = {
  track: string
  sequence_number: number
  from_block: number
  to_block: number
  last_hash: string
  writer: string
  families: readonly Family[]
  stables: readonly string[]
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
