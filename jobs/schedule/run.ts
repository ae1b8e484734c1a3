import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { SlotJob } from '../../clickhouse/jobs/periods.js'
import { insertJobRun } from '../../clickhouse/jobs/runs.js'
import { connect } from '../../clickhouse/store/client.js'
import { clickhouseProblem, countQueries } from '../../clickhouse/store/query-metrics.js'
import { serveMetrics } from '../../process/metrics-server.js'
import { checkRedis, connectRedis, REDIS_TIMEOUT_MS } from '../../process/redis.js'
import type { JobsConfig } from '../config.js'
import { databaseLease } from '../lease/database-lease.js'
import { redisLease } from '../lease/redis-lease.js'
import { checkTerm } from '../lease/term.js'
import { withLease } from '../lease/with-lease.js'
import type { JobsMetrics } from '../metrics.js'
import { invalidateBackfilledSlots } from './invalidate-slots.js'
import { createDueLook, jobRunOf } from './run-slots.js'
import { runSchedule, type ScheduledJob, type StuckRun } from './schedule.js'

type Options = {
  config: JobsConfig
  jobs: readonly ScheduledJob[]
  /** Those of them that run in slots. */
  slotJobs: readonly SlotJob[]
  print: (line: string) => void
  log: Logger
  signal: AbortSignal
  metrics?: JobsMetrics
}

/** `120` as `every 2m`, for people. */
const every = (seconds: number | null): string => {
  if (seconds === null) return 'continuously'
  return `every ${seconds % 3600 === 0 ? `${seconds / 3600}h` : seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`}`
}

/** Runs the jobs until `signal` aborts, whenever no other process on the same database does. */
export async function runJobs({ config, jobs, slotJobs, print, log, signal, metrics }: Options): Promise<void> {
  const instance = randomUUID()
  const leaseMs = config.JOBS_LEASE_SECONDS * 1000
  const clickhouse = connect(config, {
    application: 'plumbline-jobs',
    maxOpenConnections: 4,
    requestTimeoutMs: leaseMs,
  })
  // Apart from the lease, which must not wait for these.
  const slots = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 2 })
  const redis = config.REDIS_URL ? connectRedis(config.REDIS_URL, Math.min(REDIS_TIMEOUT_MS, leaseMs)) : null
  redis?.on('error', (error) => log.debug({ reason: error.message }, 'redis is unreachable'))
  const tryLease = redis
    ? redisLease(redis, config.CLICKHOUSE_DATABASE, clickhouse, instance, leaseMs)
    : databaseLease(clickhouse, instance, leaseMs)
  const onStuck = async ({ job, slot, error }: StuckRun): Promise<void> => {
    metrics?.stuck(job)
    if (!slot) return
    const run = jobRunOf({ job, at: new Date(slot.at * 1000), revision: slot.revision }, instance, slot.startedAt)
    await insertJobRun(clickhouse, { ...run, state: 'failed', result_rows: 0, error })
  }
  if (metrics) for (const client of [clickhouse, slots]) countQueries(client, metrics.queries)
  const stopServing = metrics
    ? await serveMetrics({
        config,
        port: { name: 'JOBS_METRICS_PORT', value: config.JOBS_METRICS_PORT },
        registry: metrics.registry,
        check: async () => {
          if (redis) await checkRedis(redis)
          return clickhouseProblem(clickhouse)
        },
        log,
      })
    : null
  try {
    const onWait = (reason: string): void => print(`jobs wait: ${reason}`)
    const onRun = (): void =>
      print(`jobs run: ${jobs.map(({ name, period_seconds }) => `${name} ${every(period_seconds)}`).join(', ')}`)
    const options = { tryLease, leaseMs, onWait, onRecovered: onRun, log, signal }
    await withLease(options, async (term, signal, validity) => {
      onRun()
      const stuckAfterMs = config.JOB_SLOT_SECONDS * 1000
      const quietSeconds = config.BACKFILL_QUIET_SECONDS
      const checkLease = () => checkTerm(slots, { term, instance })
      const lookForDue = createDueLook(slots, slotJobs)
      metrics?.leaseHeld(true)
      await runSchedule({
        jobs,
        workerData: { term, instance, validity: validity.memory },
        due: async (names) => {
          await invalidateBackfilledSlots({ clickhouse: slots, quietSeconds, checkLease, log })
          return lookForDue(slotJobs.filter(({ name }) => names.includes(name)))
        },
        stuckAfterMs,
        onStuck,
        onFailed: (job) => metrics?.failed(job),
        log,
        signal,
      }).finally(() => metrics?.leaseHeld(false))
    })
  } finally {
    await stopServing?.()
    redis?.disconnect()
    await slots.close()
    await clickhouse.close()
  }
}
