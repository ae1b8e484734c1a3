import type { ClickHouseClient } from '@clickhouse/client'
import { pendingDeliveries } from '../../../clickhouse/webhooks/attempts.js'
import { newestDeliveryId } from '../../../clickhouse/webhooks/deliveries.js'
import type { Pending } from './fair-queue.js'

/** The number of deliveries per read, to limit memory. */
const PAGE = 50_000

/**
 * Calls `add` for every unfinished delivery, in order, and says whether its last attempt was refused; none has a number below
 * `from`. Resolves to the newest number of all
 * deliveries; those after it are new.
 */
export async function readPending(
  clickhouse: ClickHouseClient,
  from: number,
  add: (pending: Pending, isRefused: boolean) => void,
): Promise<number> {
  const until = await newestDeliveryId(clickhouse)
  for (let next = from; next <= until; ) {
    const page = await pendingDeliveries(clickhouse, { from: next, until, limit: PAGE })
    for (const { due_ms, is_refused, ...delivery } of page)
      add({ ...delivery, dueMs: due_ms, content: null }, is_refused)
    if (page.length < PAGE) break
    next = (page.at(-1)?.delivery_id ?? until) + 1
  }
  return until
}
