import { Counter, Gauge, Registry } from 'prom-client'
import { queryDurations } from '../clickhouse/store/query-metrics.js'

export type JobsMetrics = ReturnType<typeof createJobsMetrics>

/** The metrics of a jobs process; how far each job has come is in the database, and in the metrics of the API. */
export function createJobsMetrics(jobs: readonly string[]) {
  const registry = new Registry()
  const registers = [registry]
  const perJob = (name: string, help: string) => {
    const counter = new Counter({ name: `plumbline_jobs_${name}`, help, labelNames: ['job'] as const, registers })
    for (const job of jobs) counter.inc({ job }, 0)
    return (job: string): void => counter.inc({ job })
  }
  const lease = new Gauge({
    name: 'plumbline_jobs_lease_held',
    help: 'Whether this process runs the jobs (1) or waits for another to stop (0)',
    registers,
  })
  return {
    registry,
    /** Only of the process itself: workers have clients of their own. */
    queries: queryDurations(registry),
    leaseHeld: (held: boolean): void => lease.set(held ? 1 : 0),
    stuck: perJob('stuck_total', 'Workers that were terminated because they sent no sign of life'),
    failed: perJob('worker_failures_total', 'Workers that ended with an error'),
  }
}
