import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import {
  FAMILIES,
  type Family,
  insertCommittedBatch,
  insertPlannedBatch,
  newestBatch,
  newestCommittedBatch,
  newestPlans,
  TIP,
} from '../../clickhouse/chain/batches.js'
import { type IngestRollback, newestRollback } from '../../clickhouse/chain/rollbacks.js'

import { PlumblineError } from '../../process/errors.js'
import type { BlockRange } from '../chain/block-ranges.js'

/** Another process writes to the database. */
export class LedgerError extends PlumblineError {
  constructor() {
    super('another ingest process writes to this database; only one may', { retryable: false })
  }
}

/** A range that is to be written: the listed `families`, or everything. */
type Planned = BlockRange & { lastHash: string; families?: readonly Family[]; stables?: readonly string[] }

export type BatchLedger = {
  /** The newest committed block; null if nothing is committed. */
  last: { block: number; hash: string } | null
  /** The first block after those of all committed batches. */
  next: number
  /** A range that was planned and may be partly written; it must be repeated unchanged. */
  unfinished: Required<Planned> | null
  /** The number of the newest batch that was planned. */
  sequence: number
  /** The newest rollback. The blocks that it removed may be written again, the same or different ones. */
  rollback: IngestRollback | null
  /** Records that a batch is about to be written; resolves to whether part of it may be stored already. */
  plan: (batch: Planned) => Promise<boolean>
  /** Records that all of the planned batch is written. */
  commit: () => Promise<void>
}

/** The state of `track`, from the database. `firstBlock` is where a new track begins. */
export async function openLedger(
  clickhouse: ClickHouseClient,
  track: string,
  firstBlock: number,
): Promise<BatchLedger> {
  const writer = randomUUID()
  const [newest, committed, rollback] = await Promise.all([
    newestBatch(clickhouse, { track }),
    newestCommittedBatch(clickhouse, { track }),
    // A rollback removes only what the tip has written.
    track === TIP ? newestRollback(clickhouse) : null,
  ])
  const after = rollback?.after_sequence ?? 0
  const last = lastOf(committed, rollback)
  let sequence = Math.max(newest?.sequence_number ?? 0, after)
  let unfinished = newest && newest.sequence_number > after ? unfinishedOf(newest) : null
  let open: Planned | null = null

  const row = ({ from, to, lastHash, families = FAMILIES, stables = [] }: Planned) => ({
    track,
    sequence_number: sequence,
    from_block: from,
    to_block: to,
    last_hash: lastHash,
    writer,
    families,
    stables,
  })

  /** Plans the batch under an unused number. */
  const claimNumber = async (batch: Planned): Promise<void> => {
    for (;;) {
      await insertPlannedBatch(clickhouse, row(batch))
      const newest = await newestPlans(clickhouse, { track, from: sequence })
      if (track === TIP && newest.rollback !== (rollback?.sequence_number ?? 0)) throw new LedgerError()
      if (newest.sequence_number === sequence && newest.writer === writer) return
      if (newest.sequence_number > 0) throw new LedgerError()
      // A kill between recording the plan's token and storing its row has used the number up.
      sequence++
    }
  }

  return {
    last,
    next: (last?.block ?? firstBlock - 1) + 1,
    unfinished,
    sequence,
    rollback,
    plan: async (batch) => {
      const isRepeated = unfinished !== null || open !== null
      if (!isRepeated) sequence++
      open = batch
      if (!unfinished) await claimNumber(batch)
      return isRepeated || batch.from <= (rollback?.removed_to ?? 0)
    },
    commit: async () => {
      if (!open) throw new Error('commit without a planned batch')
      await insertCommittedBatch(clickhouse, row(open))
      open = null
      unfinished = null
    },
  }
}

type CommittedBatch = Awaited<ReturnType<typeof newestCommittedBatch>>
type NewestBatch = NonNullable<Awaited<ReturnType<typeof newestBatch>>>

/** The newest committed block. Batches from before a rollback count only up to the block that it kept. */
function lastOf(committed: CommittedBatch, rollback: IngestRollback | null): BatchLedger['last'] {
  if (committed && committed.sequence_number > (rollback?.after_sequence ?? 0))
    return { block: committed.to_block, hash: committed.last_hash }
  return rollback && rollback.kept_block > 0 ? { block: rollback.kept_block, hash: rollback.kept_hash } : null
}

/** The range of the newest batch, if it was planned and not committed. */
const unfinishedOf = (newest: NewestBatch): BatchLedger['unfinished'] =>
  newest.committed
    ? null
    : {
        from: newest.from_block,
        to: newest.to_block,
        lastHash: newest.last_hash,
        families: newest.families,
        stables: newest.stables,
      }
