import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { insertRows } from '../store/insert.js'

/** A term and the random id of the process that runs the jobs in it. */
export type JobLease = { term: number; instance: string }

/** Claims a term. A term is claimed once only: a second claim changes nothing, and its author finds the first one's row. */
export function insertLeaseClaim(clickhouse: ClickHouseClient, lease: JobLease): Promise<void> {
  return insertRows(clickhouse, 'job_leases', [{ ...lease, state: 'claimed' }], `${lease.term}`)
}

/** Records that a term is held, or given up, as of now by the server's clock. */
export function insertLeaseState(
  clickhouse: ClickHouseClient,
  lease: JobLease,
  state: 'held' | 'released',
): Promise<void> {
  return insertRows(clickhouse, 'job_leases', [{ ...lease, state }], randomUUID())
}
