import type { ClickHouseClient } from '@clickhouse/client'
import { FAMILIES, type IngestBatch, insertCommittedBatch, insertPlannedBatch } from '../../clickhouse/chain/batches.js'
import { insertDoneRollback, insertPlannedRollback } from '../../clickhouse/chain/rollbacks.js'

type Range = Pick<IngestBatch, 'from_block' | 'to_block'> & Partial<IngestBatch>

const batchOf = (track: string, sequence_number: number, range: Range): IngestBatch => ({
  track,
  sequence_number,
  last_hash: '',
  writer: 'test',
  families: FAMILIES,
  stables: [],
  ...range,
})

/** Records in the ledger that a batch of a track is being written. */
export const planBatch = (clickhouse: ClickHouseClient, track: string, sequence: number, range: Range): Promise<void> =>
  insertPlannedBatch(clickhouse, batchOf(track, sequence, range))

/** Records in the ledger that a batch of a track is committed. */
export async function addBatch(
  clickhouse: ClickHouseClient,
  track: string,
  sequence: number,
  range: Range,
): Promise<void> {
  await planBatch(clickhouse, track, sequence, range)
  await insertCommittedBatch(clickhouse, batchOf(track, sequence, range))
}

const rollback = (sequence_number: number, kept_time: number) => ({
  sequence_number,
  kept_block: 1,
  kept_hash: '',
  kept_time,
  removed_to: 9,
  after_sequence: 1,
  reason: '',
  writer: '',
})

/** Records in the ledger that the blocks after a time, in Unix seconds, are being removed. */
export const planRollback = (clickhouse: ClickHouseClient, sequence: number, keptTime: number): Promise<void> =>
  insertPlannedRollback(clickhouse, rollback(sequence, keptTime))

/** Records in the ledger that the blocks after a time, in Unix seconds, were removed. */
export async function addRollback(clickhouse: ClickHouseClient, sequence: number, keptTime: number): Promise<void> {
  await planRollback(clickhouse, sequence, keptTime)
  await insertDoneRollback(clickhouse, rollback(sequence, keptTime))
}
