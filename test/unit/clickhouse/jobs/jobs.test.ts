import { expect, test } from 'vitest'
import { FLOW_WINDOW_SECONDS } from '../../../../clickhouse/flows/buckets.js'
import { lateJobs, PERIOD_SECONDS, SLOT_JOBS } from '../../../../clickhouse/jobs/periods.js'

test('a job is late when it is more than three periods behind, and never without a chain', () => {
  const jobs = [60, 300, 3600].map((period_seconds) => ({ name: `${period_seconds}`, period_seconds }))
  const lags = new Map([
    ['60', 181],
    ['300', 900],
    ['3600', null],
  ])
  expect(lateJobs(jobs, lags)).toEqual(['60'])
})

test('every job has a unique name, a period that divides an hour, and only depends on existing jobs', () => {
  const names = SLOT_JOBS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, period_seconds, after = [] } of SLOT_JOBS) {
    expect(3600 % period_seconds, name).toBe(0)
    for (const other of after) expect(names, name).toContain(other)
    expect(after).not.toContain(name)
  }
})

test('tasks that look back one slot look back by one period of their job', () => {
  const periods = new Map(SLOT_JOBS.map(({ name, period_seconds }) => [name, period_seconds]))
  expect(Object.fromEntries(periods)).toEqual(PERIOD_SECONDS)
  expect(FLOW_WINDOW_SECONDS).toBe(periods.get('flow-anomalies'))
})
