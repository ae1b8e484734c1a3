import type { ClickHouseClient } from '@clickhouse/client'
import { insertLeaseState, newestLease } from '../../clickhouse/jobs/leases.js'
import { claimTerm, hasNewestTerm, type TryLease } from './term.js'

/**
 * A lease that is kept in the database alone. The process with the newest term must renew it at least every `leaseMs`,
 * by the server's clock; otherwise another process begins the next term.
 */
export function databaseLease(clickhouse: ClickHouseClient, instance: string, leaseMs: number): TryLease {
  /** The newest term that this process has seen: terms only grow, so it need not look at earlier ones again. */
  let seen = 0
  return async () => {
    const newest = await newestLease(clickhouse, { from: seen })
    if (!newest && seen > 0) {
      // The database was restored from before that term, or a replica has not fetched it yet: begin again.
      seen = 0
      return null
    }
    seen = newest?.term ?? 0
    if (newest && !newest.is_released && newest.age_ms < leaseMs) return null
    const term = await claimTerm(clickhouse, instance, seen)
    if (term === null) return null
    const lease = { term, instance }
    return {
      term,
      renew: async () => {
        if (!(await hasNewestTerm(clickhouse, lease))) return false
        await insertLeaseState(clickhouse, lease, 'held')
        return true
      },
      release: () => insertLeaseState(clickhouse, lease, 'released'),
    }
  }
}
