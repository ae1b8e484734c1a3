import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { newestBatch } from '../../clickhouse/queries/newest-batch.js'
import { insertCommittedBatch, insertPlannedBatch } from '../../clickhouse/tables/ingest-batches.js'
import { PlumblineError } from '../../domain/errors.js'
import type { BlockRange } from '../stages/block-ranges.js'

/** The database holds other blocks than the node serves, or another process writes to it. */
class LedgerError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}

type Planned = BlockRange & { lastHash: string; parentHash: string }

export type BatchLedger = {
  /** The first block of which no committed batch knows. */
  next: number
  /** A range that was planned and may be written in part; it has to be repeated as it was. */
  unfinished: BlockRange | null
  /**
   * Records that a batch is about to be written; resolves to whether it may be written in part already. Throws
   * LedgerError when it does not continue the last one.
   */
  plan: (batch: Planned) => Promise<boolean>
  /** Records that all of the planned batch is written. */
  commit: () => Promise<void>
}

/** What `track` has done so far, from the database. `firstBlock` is where a new track begins. */
export async function openLedger(
  clickhouse: ClickHouseClient,
  track: string,
  firstBlock: number,
): Promise<BatchLedger> {
  const writer = randomUUID()
  const [newest] = await newestBatch(clickhouse, { track })
  let committed = newest && !newest.committed ? null : (newest ?? null)
  let sequence = newest ? newest.sequence_number - (newest.committed ? 0 : 1) : 0
  let unfinished = newest && !newest.committed ? newest : null
  let open: Planned | null = null

  const row = ({ from, to, lastHash }: Planned) => ({
    track,
    sequence_number: sequence,
    from_block: from,
    to_block: to,
    last_hash: lastHash,
    writer,
  })

  /** Plans the batch under a number that nobody else has. */
  const claimNumber = async (batch: Planned): Promise<void> => {
    for (;;) {
      await insertPlannedBatch(clickhouse, row(batch))
      const [stored] = await newestBatch(clickhouse, { track })
      if (stored?.sequence_number === sequence && stored.writer === writer) return
      if (stored && stored.sequence_number >= sequence) {
        throw new LedgerError('another ingest process writes to this database; only one may')
      }
      // A kill between the note of the plan's token and its row has used the number up.
      sequence++
    }
  }

  return {
    next: unfinished?.from_block ?? (committed ? committed.to_block + 1 : firstBlock),
    unfinished: unfinished && { from: unfinished.from_block, to: unfinished.to_block },
    plan: async (batch) => {
      if (committed && committed.last_hash !== batch.parentHash) {
        throw new LedgerError(
          `block ${batch.from} is no child of block ${committed.to_block} as this database has it (${committed.last_hash}): the chain was reorganized or replaced`,
        )
      }
      if (unfinished && unfinished.last_hash !== batch.lastHash) {
        throw new LedgerError(
          `block ${batch.to} is another one than when its batch was planned: the chain was reorganized or replaced`,
        )
      }
      const isRepeated = unfinished !== null || open !== null
      if (!open) sequence++
      open = batch
      if (!unfinished) await claimNumber(batch)
      return isRepeated
    },
    commit: async () => {
      if (!open) throw new Error('commit without a planned batch')
      await insertCommittedBatch(clickhouse, row(open))
      committed = { ...row(open), committed: true }
      open = null
      unfinished = null
    },
  }
}
