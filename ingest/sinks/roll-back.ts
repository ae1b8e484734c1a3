import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { newestBatch, runningInserts } from '../../clickhouse/chain/batches.js'
import {
  type IngestRollback,
  insertDoneRollback,
  insertPlannedRollback,
  newestRollback,
} from '../../clickhouse/chain/rollbacks.js'
import { removeFacts } from '../../clickhouse/facts/replace.js'
import { repairViews } from '../../clickhouse/rebuild/repair-views.js'
import { PlumblineError } from '../../process/errors.js'
import { LedgerError } from './batch-ledger.js'
import type { RetryDatabase } from './retry-database.js'

/** An insert that was sent before a rollback is not done yet, and would put back what the rollback removes. */
class InsertRunningError extends PlumblineError {
  constructor() {
    super('an insert from before the rollback still runs', { retryable: true })
  }
}

/**
 * Records that a rollback is about to be done, under the first number after `sequence_number` that nobody has. Throws
 * LedgerError when another process plans batches or rollbacks at the same time.
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
    // A kill between the note of the plan's token and its row has used the number up.
  }
}

/**
 * Removes what is planned to be removed, from the facts and from what the views have made of them. It may be repeated,
 * and is to be repeated when it fails, also by another process: every step leaves what it finds done as it is.
 * `persist` runs a step until it succeeds.
 */
export async function completeRollback(
  clickhouse: ClickHouseClient,
  rollback: IngestRollback,
  persist: RetryDatabase,
): Promise<void> {
  const inserts = (): Promise<string[]> => runningInserts(clickhouse)
  // Only those that run now, since a backfill may insert older blocks all the time.
  const before = new Set(await persist('look for running inserts', inserts))
  await persist('wait for running inserts', async () => {
    if ((await inserts()).some((query_id) => before.has(query_id))) throw new InsertRunningError()
  })
  // The genesis stables of block 0 were written with block 1.
  const from_block = rollback.kept_block === 0 ? 0 : rollback.kept_block + 1
  await persist(`remove the blocks from ${from_block} on`, () =>
    removeFacts(clickhouse, { from_block, from_time: rollback.kept_time }),
  )
  await persist('settle the views', () => repairViews(clickhouse))
  await persist('finish the rollback', () => insertDoneRollback(clickhouse, rollback))
}
