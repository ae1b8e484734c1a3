import { expect } from 'vitest'
import { insertJobRun, type JobRun, jobStatuses } from '../../../../clickhouse/jobs/runs.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const HOUR = 1_760_000_400
const at = (seconds: number): Date => new Date((HOUR + seconds) * 1000)

const run = (slot: number, state: JobRun['state']): JobRun => ({
  job: 'does',
  slot_at: HOUR + slot,
  revision: 0,
  state,
  result_rows: 0,
  error: '',
  started_at: `${HOUR + slot + 5}.000`,
  duration_ms: 2000,
  instance: 'i',
})

test('a job’s lag counts from its newest completed slot, or from the start of history if it has none', async ({
  clickhouse,
}) => {
  const jobs = ['does', 'never']
  const nothing = { last_slot_at: null, last_success_at: null, lag_seconds: null }
  expect(await jobStatuses(clickhouse, { jobs })).toEqual(jobs.map((job) => ({ job, ...nothing })))
  await addBlocks(clickhouse, [HOUR, HOUR + 500])
  for (const [slot, state] of [
    [60, 'done'],
    [120, 'done'],
    [180, 'failed'],
  ] as const)
    await insertJobRun(clickhouse, run(slot, state))
  expect(await jobStatuses(clickhouse, { jobs })).toEqual([
    { job: 'does', last_slot_at: at(120), last_success_at: at(127), lag_seconds: 380 },
    { job: 'never', ...nothing, lag_seconds: 500 },
  ])
})
