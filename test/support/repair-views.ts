import type { ClickHouseClient } from '@clickhouse/client'
import pRetry from 'p-retry'
import { repairViews } from '../../clickhouse/facts/repair-views.js'

/** As ingest does it after a rollback: again while a view is being refreshed. */
export const repairedViews = (clickhouse: ClickHouseClient): Promise<void> =>
  pRetry(() => repairViews(clickhouse), { retries: 10 })
