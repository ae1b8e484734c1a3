import type { ClickHouseClient } from '@clickhouse/client'
import { Histogram, type Registry } from 'prom-client'
import { observeQueries } from './observe.js'

/** In seconds: from a cached answer to the longest time that a query may take. */
export const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/** A metric of the reads and inserts of a process, which `countQueries` fills. */
export const queryDurations = (registry: Registry) =>
  new Histogram({
    name: 'plumbline_clickhouse_query_duration_seconds',
    help: 'Time of a query to its last row; of an export, to its first bytes',
    labelNames: ['query', 'outcome'] as const,
    buckets: SECONDS,
    registers: [registry],
  })

/**
 * Counts each read and insert through `clickhouse` from now on. `outcome` is ok, failed, timeout or aborted (nobody
 * waited for it any more).
 */
export function countQueries(clickhouse: ClickHouseClient, durations: ReturnType<typeof queryDurations>): void {
  observeQueries(clickhouse, (query, outcome, seconds) => durations.observe({ query, outcome }, seconds))
}

/** Null if ClickHouse answers, else why not. */
export async function clickhouseProblem(clickhouse: ClickHouseClient): Promise<string | null> {
  const ping = await clickhouse.ping({ select: true })
  return ping.success ? null : `ClickHouse does not answer: ${ping.error.message.split('\n')[0]}`
}
