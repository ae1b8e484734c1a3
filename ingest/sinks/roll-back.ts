import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { newestBatch, runningInserts } from '../../clickhouse/chain/batches.js'
import {
  type IngestRollback,
  insertDoneRollback,
  insertPlannedRollback,
  newestRollback,
} from '../../clickhouse/chain/rollbacks.js'
import { repairViews } from '../../clickhouse/facts/repair-views.js'
import { removeFacts } from '../../clickhouse/facts/replace.js'
import { PlumblineError } from '../../process/errors.js'
import { LedgerError } from './batch-ledger.js'
import type { RetryDatabase } from './retry-database.js'

/** An insert that was sent before a rollback is still running and would restore what the rollback removes. */
class InsertRunningError extends PlumblineError {
  constructor() {
    super('an insert from before the rollback is still running', { retryable: true })
  }
}

/**
 * Records that a rollback is about to start, under the first unused number after `sequence_number`. Throws LedgerError
 * when another process plans batches or rollbacks at the same time.
 */
export async function planRollback(
  clickhouse: ClickHouseClient,
  track: string,
  rollback: Omit<IngestRollback, 'writer'>,
): Promise<void> {
  const writer = randomUUID()
  for (let sequence_number = rollback.sequence_number + 1; ; sequence_number++) {
    await insertPlannedRollback(clickhouse, { ...rollback, sequence_number, writer })
    const [stored, batch] = await Promise.all([newestRollback(clickhouse), newestBatch(clickhouse, { track })])
    if ((batch?.sequence_number ?? 0) > rollback.after_sequence) throw new LedgerError()
    if (stored?.sequence_number === sequence_number && stored.writer === writer) return
    if (stored && stored.sequence_number >= sequence_number) throw new LedgerError()
    // A kill between recording the plan's token and storing its row has used the number up.
  }
}

/**
 * Removes the planned blocks from the facts and from the results of the views. Every step can be repeated: after a
 * failure, the rollback is repeated as a whole, if need be by another process. `persist` runs a step until it succeeds.
 */
export async function completeRollback(
  clickhouse: ClickHouseClient,
  rollback: IngestRollback,
  persist: RetryDatabase,
): Promise<void> {
  const inserts = (): Promise<string[]> => runningInserts(clickhouse)
  // Only inserts that run now, because a backfill may insert older blocks continuously.
  const before = new Set(await persist('look for running inserts', inserts))
  await persist('wait for running inserts', async () => {
    if ((await inserts()).some((query_id) => before.has(query_id))) throw new InsertRunningError()
  })
  // The genesis stables of block 0 were written with block 1.
  const from_block = rollback.kept_block === 0 ? 0 : rollback.kept_block + 1
  await persist(`remove the blocks from ${from_block} on`, () =>
    removeFacts(clickhouse, { from_block, from_time: rollback.kept_time }),
  )
  await persist('repair the views', () => repairViews(clickhouse))
  await persist('finish the rollback', () => insertDoneRollback(clickhouse, rollback))
}
