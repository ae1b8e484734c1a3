import { expect, test } from 'vitest'
import { componentStates, type HealthReadings } from '../../../domain/health.js'

const JOBS = [{ name: 'peg-events', period_seconds: 120 }]
const THRESHOLDS = { maxLagSeconds: 180, maxSamplingLagSeconds: 90, maxLatePeriods: 4, maxMissingBlocks: 10 }

const WELL: HealthReadings = {
  ingest: { lag_seconds: 180 },
  sampling: { lag_seconds: 90, lag_blocks: 3 },
  jobs: [{ job: 'peg-events', lag_seconds: 480, lag_blocks: 16 }],
  datasets: [{ dataset: 'pegs', missing_blocks: 10 }],
}

const stateOf = (changes: Partial<HealthReadings>) =>
  componentStates({ ...WELL, ...changes }, JOBS, THRESHOLDS).map(({ component, status }) => `${component} ${status}`)

test('every part is well up to its threshold', () => {
  expect(componentStates(WELL, JOBS, THRESHOLDS)).toEqual([
    { component: 'ingest', status: 'ok', lag_blocks: null, lag_seconds: 180 },
    { component: 'sampling', status: 'ok', lag_blocks: 3, lag_seconds: 90 },
    { component: 'job:peg-events', status: 'ok', lag_blocks: 16, lag_seconds: 480 },
    { component: 'dataset:pegs', status: 'ok', lag_blocks: 10, lag_seconds: null },
  ])
})

test('and ails beyond it, each by itself', () => {
  const [ingest, sampling, job, dataset] = ['ingest ok', 'sampling ok', 'job:peg-events ok', 'dataset:pegs ok']
  expect(stateOf({ ingest: { lag_seconds: 181 } })).toEqual(['ingest behind', sampling, job, dataset])
  const stalled = [ingest, 'sampling stalled', job, dataset]
  expect(stateOf({ sampling: { lag_seconds: 91, lag_blocks: 4 } })).toEqual(stalled)
  expect(stateOf({ sampling: { lag_seconds: null, lag_blocks: null } })).toEqual(stalled)
  const late = { job: 'peg-events', lag_seconds: 481, lag_blocks: 1 }
  expect(stateOf({ jobs: [late] })).toEqual([ingest, sampling, 'job:peg-events overdue', dataset])
  const gap = { dataset: 'pegs', missing_blocks: 11 }
  expect(stateOf({ datasets: [gap] })).toEqual([ingest, sampling, job, 'dataset:pegs gaps'])
})

test('what there is nothing to sample of does not stall', () => {
  expect(stateOf({ sampling: null })).toEqual(['ingest ok', 'job:peg-events ok', 'dataset:pegs ok'])
})
