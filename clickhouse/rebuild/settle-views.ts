import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'
import { rebuildFlowBuckets, windowOf } from '../flows/buckets.js'
import { rebuildPegMinutes } from '../peg/minutes.js'
import { defineQuery, defineRow, onlyColumn } from '../store/define-query.js'
import { QueryError } from '../store/query-error.js'

/** A view is being computed from facts that are no longer there. */
class RefreshRunningError extends PlumblineError {
  constructor(view: string) {
    super(`${view} is being refreshed`, { retryable: true })
  }
}

/** The last minute's end and the last window's beginning that a DateTime can hold. */
const LAST_MINUTE_END = 4_294_967_280
const LAST_WINDOW = windowOf(0xffff_ffff)

const headTime = defineRow({
  name: 'head_time',
  row: onlyColumn('time', z.int()),
  sql: 'SELECT toUnixTimestamp(max(block_time)) AS time FROM blocks',
})

const runningRefreshes = defineQuery({
  name: 'running_refreshes',
  row: onlyColumn('view', z.string()),
  sql: `
    SELECT view FROM system.view_refreshes
    WHERE database = currentDatabase() AND status IN ('Running', 'RunningOnAnotherReplica')`,
})

/**
 * Makes what the views have stored agree with the facts again from the newest block's time on, after facts of later
 * blocks were removed. May be repeated, and is to be repeated when it fails: half-way, states are missing. Rejects with
 * an error that says so while a view is being refreshed.
 */
export async function settleViews(clickhouse: ClickHouseClient): Promise<void> {
  const time = await headTime(clickhouse)
  await rebuildPegMinutes(clickhouse, { first: Math.ceil(time / 60) * 60, last: LAST_MINUTE_END })
  await rebuildFlowBuckets(clickhouse, { first: windowOf(time), last: LAST_WINDOW })
  // A refresh that began before may put windows over removed facts in at its end.
  const [running] = await runningRefreshes(clickhouse)
  if (running) throw new RefreshRunningError(running)
  // Without a row for them, the live windows are computed from the facts until the next refresh.
  const query = 'DELETE FROM peg_windows WHERE as_of >= {time: UInt32}'
  await clickhouse.command({ query, query_params: { time } }).catch((cause) => {
    throw new QueryError(query, cause)
  })
}
