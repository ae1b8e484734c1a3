import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { defineOptionalRow } from '../store/define-query.js'
import { insertRows } from '../store/insert.js'

/** A term and the random id of the process that runs the jobs in it. */
export type JobLease = { term: number; instance: string }

/**
 * Claims a term. A term can be claimed only once: a second claim changes nothing, and the process that made it reads
 * the first one's row.
 */
export function insertLeaseClaim(clickhouse: ClickHouseClient, lease: JobLease): Promise<void> {
  return insertRows(clickhouse, 'job_leases', [{ ...lease, state: 'claimed' }], `${lease.term}`)
}

/** Records that a term is held or released, at the current time of the server's clock. */
export function insertLeaseState(
  clickhouse: ClickHouseClient,
  lease: JobLease,
  state: 'held' | 'released',
): Promise<void> {
  return insertRows(clickhouse, 'job_leases', [{ ...lease, state }], randomUUID())
}

/**
 * The newest term, the process that has it, and the milliseconds since that process last renewed it; null if there is none
 * from the term `from` on. Reads only the end of the table.
 */
export const newestLease = defineOptionalRow({
  name: 'newest_lease',
  params: z.object({ from: z.int() }),
  row: z.object({ term: z.int(), instance: z.string(), is_released: z.boolean(), age_ms: z.int() }),
  sql: `
    SELECT toUInt32(term) AS term, anyIf(instance, state = 'claimed') AS instance, max(state = 'released')::Bool AS is_released,
           toInt32(least(dateDiff('millisecond', max(recorded_at), now64(3)), 0x7fffffff)) AS age_ms
    FROM job_leases WHERE job_leases.term >= {from: UInt64}
    GROUP BY term ORDER BY term DESC LIMIT 1`,
})
