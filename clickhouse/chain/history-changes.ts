import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** That a backfill has changed what slots find; the columns are described in the migration. Times in unix seconds. */
export type HistoryChange = {
  sequence_number: number
  backfill_sequence: number
  kept_time: number
  after_rollback: number
}

/** Records a change of history. A second one of the same number changes nothing, whatever it is about. */
export function insertHistoryChange(clickhouse: ClickHouseClient, change: HistoryChange): Promise<void> {
  return insertRows(clickhouse, 'history_changes', [change], `${change.sequence_number}`)
}
