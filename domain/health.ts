import { lateJobs, type SlotJob } from './jobs.js'
import type { ComponentHealth } from './webhook-event.js'

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

/** What is measured of the service; lags are null where they are not known. */
export type HealthReadings = {
  /** Age of the newest block. */
  ingest: { lag_seconds: number }
  /** null where there is nothing to sample. */
  sampling: { lag_seconds: number | null; lag_blocks: number | null } | null
  jobs: readonly { job: string; lag_seconds: number | null; lag_blocks: number | null }[]
  datasets: readonly { dataset: string; missing_blocks: number }[]
}

/** The state of every part of the service. How many blocks ingest is behind is for ingest to know: it sees the head. */
export function componentStates(
  { ingest, sampling, jobs, datasets }: HealthReadings,
  slotJobs: readonly SlotJob[],
  { maxLagSeconds, maxSamplingLagSeconds, maxLatePeriods, maxMissingBlocks }: HealthThresholds,
): ComponentHealth[] {
  const states: ComponentHealth[] = [
    {
      component: 'ingest',
      status: ingest.lag_seconds > maxLagSeconds ? 'behind' : 'ok',
      lag_blocks: null,
      lag_seconds: ingest.lag_seconds,
    },
  ]
  if (sampling) {
    const isStalled = sampling.lag_seconds === null || sampling.lag_seconds > maxSamplingLagSeconds
    states.push({ component: 'sampling', status: isStalled ? 'stalled' : 'ok', ...sampling })
  }
  const late = lateJobs(slotJobs, new Map(jobs.map(({ job, lag_seconds }) => [job, lag_seconds])), maxLatePeriods)
  for (const { job, lag_seconds, lag_blocks } of jobs)
    states.push({ component: `job:${job}`, status: late.includes(job) ? 'overdue' : 'ok', lag_blocks, lag_seconds })
  for (const { dataset, missing_blocks } of datasets) {
    const status = missing_blocks > maxMissingBlocks ? 'gaps' : 'ok'
    states.push({ component: `dataset:${dataset}`, status, lag_blocks: missing_blocks, lag_seconds: null })
  }
  return states
}
