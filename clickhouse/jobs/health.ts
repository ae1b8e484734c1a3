import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { lateJobs, type SlotJob } from './periods.js'

/** The limits beyond which a component of the service is unhealthy. */
export type HealthThresholds = {
  /** Age of the newest block, in seconds. */
  maxLagSeconds: number
  /** Time from the newest successful sample to the newest block, in seconds. */
  maxSamplingLagSeconds: number
  /** Number of a job's periods between its newest completed slot and the newest block. */
  maxLatePeriods: number
  /** Number of blocks missing from a dataset. */
  maxMissingBlocks: number
}

/** The measurements of the service. Lags are null if they are not known. `is_catching_up`: the lag is shrinking. */
export type HealthReadings = {
  /** Age of the newest ingested block, and how many blocks the chain has after it. */
  ingest: { lag_seconds: number; lag_blocks: number | null; is_catching_up: boolean }
  /** null if there is nothing to sample. */
  sampling: { lag_seconds: number | null; lag_blocks: number | null } | null
  /** `due_lag_seconds`: the lag without slots that wait for facts which are not read. */
  jobs: readonly {
    job: string
    lag_seconds: number | null
    due_lag_seconds: number | null
    lag_blocks: number | null
    is_catching_up: boolean
  }[]
  datasets: readonly { dataset: string; missing_blocks: number }[]
}

/** The state of a component of the service. `lag_blocks` and `lag_seconds` are null if they are not measured. */
export type ComponentHealth = {
  component: string
  status: 'ok' | 'behind' | 'stalled' | 'overdue' | 'gaps' | 'disabled'
  lag_blocks: number | null
  lag_seconds: number | null
}

/**
 * The newest event of each component that has one, and the state that it announced. The engine keeps the numbers of these
 * events beside the log, as long as it is asked for in these words (clickhouse/schema/0011_events.sql).
 */
export const newestHealth = defineQuery({
  name: 'newest_health',
  row: z.object({ component: z.string(), id: z.string(), status: z.string() }),
  sql: `
    SELECT subject AS component, id, JSONExtractString(data, 'status') AS status FROM events
    WHERE sequence_number IN (SELECT max(sequence_number) FROM events WHERE type = 'system.health_drift' GROUP BY type, subject)`,
})

/**
 * The state of every component of the service, given its states `before`. A component that is behind but catching up
 * stays healthy unless it was announced as unhealthy before: a first start always has to catch up, and nobody needs to
 * act on it.
 */
export function componentStates(
  { ingest, sampling, jobs, datasets }: HealthReadings,
  slotJobs: readonly SlotJob[],
  { maxLagSeconds, maxSamplingLagSeconds, maxLatePeriods, maxMissingBlocks }: HealthThresholds,
  before: ReadonlyMap<string, { status: string }> = new Map(),
): ComponentHealth[] {
  const wasHealthy = (component: string): boolean => (before.get(component)?.status ?? 'ok') === 'ok'
  const isBehind = ingest.lag_seconds > maxLagSeconds && !(ingest.is_catching_up && wasHealthy('ingest'))
  const { lag_seconds, lag_blocks } = ingest
  const states: ComponentHealth[] = [
    { component: 'ingest', status: isBehind ? 'behind' : 'ok', lag_blocks, lag_seconds },
  ]
  if (sampling) {
    const isStalled = sampling.lag_seconds === null || sampling.lag_seconds > maxSamplingLagSeconds
    states.push({ component: 'sampling', status: isStalled ? 'stalled' : 'ok', ...sampling })
  }
  const late = lateJobs(
    slotJobs,
    new Map(jobs.map(({ job, due_lag_seconds }) => [job, due_lag_seconds])),
    maxLatePeriods,
  )
  for (const { job, lag_seconds, lag_blocks, is_catching_up } of jobs) {
    const component = `job:${job}`
    // While ingest is catching up, it continuously adds slots for a job to do.
    const isOverdue = late.includes(job) && !((is_catching_up || ingest.is_catching_up) && wasHealthy(component))
    states.push({ component, status: isOverdue ? 'overdue' : 'ok', lag_blocks, lag_seconds })
  }
  for (const { dataset, missing_blocks } of datasets) {
    const status = missing_blocks > maxMissingBlocks ? 'gaps' : 'ok'
    states.push({ component: `dataset:${dataset}`, status, lag_blocks: missing_blocks, lag_seconds: null })
  }
  return states
}
