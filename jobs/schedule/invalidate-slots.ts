import type { ClickHouseClient } from '@clickhouse/client'
import type { Logger } from 'pino'
import { wholeSince } from '../../clickhouse/chain/history.js'
import {
  type HistoryChange,
  insertHistoryChange,
  newestHistoryChange,
  unaccountedBackfill,
} from '../../clickhouse/chain/history-changes.js'
import { slotBounds } from '../../clickhouse/jobs/slots.js'
import { appendNumbered } from '../../clickhouse/store/append-numbered.js'

type Options = {
  clickhouse: ClickHouseClient
  /** A backfill counts as completed when it has written nothing for this many seconds. */
  quietSeconds: number
  /** Rejects if another process has taken over the jobs. */
  checkLease: () => Promise<void>
  log: Logger
}

/**
 * Once backfills that added blocks or facts are completed, records that the slots from their oldest block on must be
 * done again. Until then, the first slot stays the same. Even if many workers do this at once, a change is recorded
 * once.
 */
export async function invalidateBackfilledSlots({ clickhouse, quietSeconds, checkLease, log }: Options): Promise<void> {
  await appendNumbered({
    newest: () => newestHistoryChange(clickhouse),
    missing: () => unrecordedChange(clickhouse, quietSeconds),
    insert: async ([change], sequence_number) => {
      if (!change) return
      await checkLease()
      await insertHistoryChange(clickhouse, { ...change, sequence_number })
      log.info({ from: new Date(change.kept_time * 1000) }, 'a backfill has added facts: slots are due again')
    },
  })
}

/** The change of history to record; empty if nothing was added after the newest missing block. */
async function unrecordedChange(
  clickhouse: ClickHouseClient,
  quiet_seconds: number,
): Promise<Array<Omit<HistoryChange, 'sequence_number'>>> {
  const backfill = await unaccountedBackfill(clickhouse, { quiet_seconds })
  const bounds = backfill && (await slotBounds(clickhouse))
  if (!backfill || !bounds) return []
  const completeSince = bounds.is_whole ? bounds.first_time : await wholeSince(clickhouse)
  if (completeSince === null || backfill.newest_time < completeSince) return []
  const { oldest_time, backfill_sequence, after_rollback } = backfill
  // No slot before the slots' beginning was done, including those of blocks that an earlier change added before a gap
  // that was still open then.
  const kept_time = completeSince < bounds.from_time ? completeSince : Math.max(completeSince, oldest_time)
  return [{ backfill_sequence, kept_time, after_rollback }]
}
