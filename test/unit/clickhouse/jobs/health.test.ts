import { expect, test } from 'vitest'
import { componentStates, type HealthReadings } from '../../../../clickhouse/jobs/health.js'

const JOBS = [{ name: 'peg-events', period_seconds: 120 }]
const THRESHOLDS = { maxLagSeconds: 180, maxSamplingLagSeconds: 90, maxLatePeriods: 4, maxMissingBlocks: 10 }

const WELL: HealthReadings = {
  ingest: { lag_seconds: 180, lag_blocks: 7, is_catching_up: false },
  sampling: { lag_seconds: 90, lag_blocks: 3 },
  jobs: [{ job: 'peg-events', lag_seconds: 480, due_lag_seconds: 480, lag_blocks: 16, is_catching_up: false }],
  datasets: [{ dataset: 'pegs', missing_blocks: 10 }],
}

const stateOf = (changes: Partial<HealthReadings>) =>
  componentStates({ ...WELL, ...changes }, JOBS, THRESHOLDS).map(({ component, status }) => `${component} ${status}`)

test('every component is healthy up to its threshold', () => {
  expect(componentStates(WELL, JOBS, THRESHOLDS)).toEqual([
    { component: 'ingest', status: 'ok', lag_blocks: 7, lag_seconds: 180 },
    { component: 'sampling', status: 'ok', lag_blocks: 3, lag_seconds: 90 },
    { component: 'job:peg-events', status: 'ok', lag_blocks: 16, lag_seconds: 480 },
    { component: 'dataset:pegs', status: 'ok', lag_blocks: 10, lag_seconds: null },
  ])
})

test('every component is unhealthy beyond its threshold, independently of the others', () => {
  const [ingest, sampling, job, dataset] = ['ingest ok', 'sampling ok', 'job:peg-events ok', 'dataset:pegs ok']
  expect(stateOf({ ingest: { ...WELL.ingest, lag_seconds: 181 } })).toEqual(['ingest behind', sampling, job, dataset])
  const stalled = [ingest, 'sampling stalled', job, dataset]
  expect(stateOf({ sampling: { lag_seconds: 91, lag_blocks: 4 } })).toEqual(stalled)
  expect(stateOf({ sampling: { lag_seconds: null, lag_blocks: null } })).toEqual(stalled)
  const late = { job: 'peg-events', lag_seconds: 481, due_lag_seconds: 481, lag_blocks: 1, is_catching_up: false }
  expect(stateOf({ jobs: [late] })).toEqual([ingest, sampling, 'job:peg-events overdue', dataset])
  const gap = { dataset: 'pegs', missing_blocks: 11 }
  expect(stateOf({ datasets: [gap] })).toEqual([ingest, sampling, job, 'dataset:pegs gaps'])
})

test('a job whose slots wait for facts that are not read is not overdue', () => {
  const waits = { job: 'peg-events', lag_seconds: 600_000, due_lag_seconds: 480, lag_blocks: 9, is_catching_up: false }
  expect(stateOf({ jobs: [waits] })).toContain('job:peg-events ok')
  expect(stateOf({ jobs: [{ ...waits, due_lag_seconds: 481 }] })).toContain('job:peg-events overdue')
})

test('a chain without stables to sample is not stalled', () => {
  expect(stateOf({ sampling: null })).toEqual(['ingest ok', 'job:peg-events ok', 'dataset:pegs ok'])
})

test('a component that is behind but catching up is announced only if it was unhealthy before', () => {
  const late = { job: 'peg-events', lag_seconds: 481, due_lag_seconds: 481, lag_blocks: 1, is_catching_up: true }
  const ingest = { lag_seconds: 181, lag_blocks: 7, is_catching_up: true }
  const statesAfter = (before: Record<string, string>, changes: Partial<HealthReadings>) => {
    const states = new Map(Object.entries(before).map(([component, status]) => [component, { status }]))
    const [first, , job] = componentStates({ ...WELL, ...changes }, JOBS, THRESHOLDS, states)
    return [first?.status, job?.status]
  }
  expect(statesAfter({}, { ingest, jobs: [late] })).toEqual(['ok', 'ok'])
  expect(statesAfter({}, { ingest, jobs: [{ ...late, is_catching_up: false }] })).toEqual(['ok', 'ok'])
  expect(statesAfter({}, { ingest: { ...ingest, is_catching_up: false }, jobs: [late] })).toEqual(['behind', 'ok'])
  const ailing = { ingest: 'behind', 'job:peg-events': 'overdue' }
  expect(statesAfter(ailing, { ingest, jobs: [late] })).toEqual(['behind', 'overdue'])
  expect(statesAfter(ailing, {})).toEqual(['ok', 'ok'])
})
