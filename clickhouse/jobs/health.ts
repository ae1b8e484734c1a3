import { z } from 'zod'
import { defineQuery } from '../store/define-query.js'
import { lateJobs, type SlotJob } from './periods.js'

/** From where on a part of the service is no longer as it should be. */
export type HealthThresholds = {
  /** Age of the newest block, in seconds. */
  maxLagSeconds: number
  /** Time from the newest sample that has worked to the newest block, in seconds. */
  maxSamplingLagSeconds: number
  /** Periods of a job between the newest slot that it has done and the newest block. */
  maxLatePeriods: number
  /** Blocks that are missing in a dataset. */
  maxMissingBlocks: number
}

/** What is measured of the service; lags are null where they are not known. What gains gets less behind all the time. */
export type HealthReadings = {
  /** Age of the newest block, and how many blocks the chain has after it. */
  ingest: { lag_seconds: number; lag_blocks: number | null; is_gaining: boolean }
  /** null where there is nothing to sample. */
  sampling: { lag_seconds: number | null; lag_blocks: number | null } | null
  jobs: readonly { job: string; lag_seconds: number | null; lag_blocks: number | null; is_gaining: boolean }[]
  datasets: readonly { dataset: string; missing_blocks: number }[]
}

/** How a part of the service is. `lag_blocks` and `lag_seconds` are null where they are not measured. */
export type ComponentHealth = {
  component: string
  status: 'ok' | 'behind' | 'stalled' | 'overdue' | 'gaps' | 'disabled'
  lag_blocks: number | null
  lag_seconds: number | null
}

/** The newest event of each part of the service that was ever told of, and the state it told of. */
export const newestHealth = defineQuery({
  name: 'newest_health',
  row: z.object({ component: z.string(), id: z.string(), status: z.string() }),
  sql: `
    SELECT subject AS component, argMax(id, sequence_number) AS id, JSONExtractString(argMax(data, sequence_number), 'status') AS status
    FROM events WHERE type = 'system.health_drift'
    GROUP BY subject`,
})

/**
 * The state of every part of the service, after those that it was in `before`. What is behind and gains is said to be well
 * for as long as nothing else was said: so it is at a first start, and there is nothing to be done about it.
 */
export function componentStates(
  { ingest, sampling, jobs, datasets }: HealthReadings,
  slotJobs: readonly SlotJob[],
  { maxLagSeconds, maxSamplingLagSeconds, maxLatePeriods, maxMissingBlocks }: HealthThresholds,
  before: ReadonlyMap<string, { status: string }> = new Map(),
): ComponentHealth[] {
  const wasWell = (component: string): boolean => (before.get(component)?.status ?? 'ok') === 'ok'
  const isBehind = ingest.lag_seconds > maxLagSeconds && !(ingest.is_gaining && wasWell('ingest'))
  const { lag_seconds, lag_blocks } = ingest
  const states: ComponentHealth[] = [
    { component: 'ingest', status: isBehind ? 'behind' : 'ok', lag_blocks, lag_seconds },
  ]
  if (sampling) {
    const isStalled = sampling.lag_seconds === null || sampling.lag_seconds > maxSamplingLagSeconds
    states.push({ component: 'sampling', status: isStalled ? 'stalled' : 'ok', ...sampling })
  }
  const late = lateJobs(slotJobs, new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds])), maxLatePeriods)
  for (const { job, lag_seconds, lag_blocks, is_gaining } of jobs) {
    const component = `job:${job}`
    // As long as ingest gains, there is more to do for a job all the time.
    const isOverdue = late.includes(job) && !((is_gaining || ingest.is_gaining) && wasWell(component))
    states.push({ component, status: isOverdue ? 'overdue' : 'ok', lag_blocks, lag_seconds })
  }
  for (const { dataset, missing_blocks } of datasets) {
    const status = missing_blocks > maxMissingBlocks ? 'gaps' : 'ok'
    states.push({ component: `dataset:${dataset}`, status, lag_blocks: missing_blocks, lag_seconds: null })
  }
  return states
}
