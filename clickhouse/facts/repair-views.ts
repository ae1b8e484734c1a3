import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { END_OF_TIME } from '../../process/instants.js'
import { rebuildFeeChoices } from '../fees/choices.js'
import { rebuildFlowBuckets, windowOf } from '../flows/buckets.js'
import { rebuildPegMinutes } from '../peg/minutes.js'
import { hourOf, rebuildQuoteHours } from '../peg/quote-hours.js'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'
import { catchUp } from '../store/replicas.js'

/** A refresh is running that may have read facts that were removed since. */
class RefreshRunningError extends PlumblineError {
  constructor(view: string) {
    super(`the view ${view} is being refreshed`, { retryable: true })
  }
}

/** The end of the last minute and the starts of the last hour and window that a DateTime can hold. */
const LAST_MINUTE_END = END_OF_TIME - (END_OF_TIME % 60)
const LAST_HOUR = hourOf(END_OF_TIME)
const LAST_WINDOW = windowOf(END_OF_TIME)

const storedHead = defineRow({
  name: 'stored_head',
  row: z.object({ block: z.int(), time: z.int() }),
  sql: 'SELECT toUInt32(max(block_number)) AS block, toUnixTimestamp(max(block_time)) AS time FROM blocks',
})

const runningRefreshes = defineQuery({
  name: 'running_refreshes',
  row: onlyColumn('view', z.string()),
  sql: `
    SELECT view FROM system.view_refreshes
    WHERE database = currentDatabase() AND status IN ('Running', 'RunningOnAnotherReplica')`,
})

/**
 * After facts of later blocks were removed: makes the stored results of the views agree with the facts again, from the
 * time of the newest block on. Must be repeated if it fails, because states may be missing then. Rejects with the
 * retryable RefreshRunningError while a view is being refreshed.
 */
export async function repairViews(clickhouse: ClickHouseClient): Promise<void> {
  await catchUp(clickhouse)
  const { block, time } = await storedHead(clickhouse)
  await rebuildPegMinutes(clickhouse, { first: Math.ceil(time / 60) * 60, last: LAST_MINUTE_END })
  await rebuildQuoteHours(clickhouse, { first: hourOf(time), last: LAST_HOUR }, { replace: true })
  await rebuildFlowBuckets(clickhouse, { first: windowOf(time), last: LAST_WINDOW })
  await rebuildFeeChoices(clickhouse, { block, time })
  // A refresh that started earlier may still insert windows over removed facts when it ends.
  const [running] = await runningRefreshes(clickhouse)
  if (running) throw new RefreshRunningError(running)
  // Live windows without a row are computed from the facts until the next refresh.
  const query = 'DELETE FROM peg_windows WHERE as_of >= {time: UInt32}'
  await clickhouse.command({ query, query_params: { time } }).catch((cause) => {
    throw new QueryError(query, cause)
  })
}
