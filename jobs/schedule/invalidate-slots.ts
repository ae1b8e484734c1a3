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
  /** A backfill is over when it has written nothing for so long, in seconds. */
  quietSeconds: number
  /** Rejects where another process runs the jobs by now. */
  checkLease: () => Promise<void>
  log: Logger
}

/**
 * Where backfills have added blocks or facts that slots do not know, and are over, notes that the slots from there on are
 * to be done again. Until then slots begin where they did. However many workers do so at once, it is noted once.
 */
export async function invalidateBackfilledSlots({ clickhouse, quietSeconds, checkLease, log }: Options): Promise<void> {
  await appendNumbered({
    newest: () => newestHistoryChange(clickhouse),
    missing: () => unnoted(clickhouse, quietSeconds),
    insert: async ([change], sequence_number) => {
      if (!change) return
      await checkLease()
      await insertHistoryChange(clickhouse, { ...change, sequence_number })
      log.info({ from: new Date(change.kept_time * 1000) }, 'a backfill has changed history: slots are due again')
    },
  })
}

/** The change of history that is to be noted; none where there is nothing new behind the newest block that is missing. */
async function unnoted(
  clickhouse: ClickHouseClient,
  quiet_seconds: number,
): Promise<Array<Omit<HistoryChange, 'sequence_number'>>> {
  const news = await unaccountedBackfill(clickhouse, { quiet_seconds })
  const bounds = news && (await slotBounds(clickhouse))
  if (!news || !bounds) return []
  const whole = bounds.is_whole ? bounds.first_time : await wholeSince(clickhouse)
  if (whole === null || news.newest_time < whole) return []
  const { oldest_time, backfill_sequence, after_rollback } = news
  // Before the slots' beginning none was done, also of blocks that came with an older change, behind a gap by then.
  const kept_time = whole < bounds.from_time ? whole : Math.max(whole, oldest_time)
  return [{ backfill_sequence, kept_time, after_rollback }]
}
