import type { ClickHouseClient } from '@clickhouse/client'
import { expect } from 'vitest'
import { databaseLease } from '../../../../jobs/lease/database-lease.js'
import { checkTerm } from '../../../../jobs/lease/term.js'
import { createTestTables, expectedTestRows, testRows } from '../../../support/jobs/jobs.js'
import { jobsDone, startJobs, until } from '../../../support/jobs/process.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const HOUR = 1_760_000_400
/** Long enough for processes to start and leases to expire on a busy machine. */
const TIMEOUT_MS = 300_000

test('of many processes that request the lease at once, one gets it, each time with a greater term', async ({
  clickhouse,
}) => {
  const asking = Array.from({ length: 8 }, (_, i) => databaseLease(clickhouse, `process ${i}`, 600_000))
  const round = async () => (await Promise.all(asking.map((tryLease) => tryLease()))).filter((lease) => lease !== null)
  const [first, ...others] = await round()
  expect(others).toEqual([])
  expect(await round()).toEqual([])
  expect(await first?.renew()).toBe(true)
  await first?.release()
  const [second, ...noOthers] = await round()
  expect(noOthers).toEqual([])
  expect(second?.term).toBeGreaterThan(first?.term as number)
})

test('a process that does not renew in time loses the lease and is fenced off', async ({ clickhouse }) => {
  const slow = await databaseLease(clickhouse, 'slow', 0)()
  const next = await databaseLease(clickhouse, 'next', 0)()
  expect(next?.term).toBe((slow?.term ?? 0) + 1)
  expect(await slow?.renew()).toBe(false)
  expect(await next?.renew()).toBe(true)
  await expect(checkTerm(clickhouse, { term: slow?.term as number, instance: 'slow' })).rejects.toThrow(
    'another process',
  )
  await checkTerm(clickhouse, { term: next?.term as number, instance: 'next' })
})

const instances = async (clickhouse: ClickHouseClient): Promise<string[]> => {
  const query = 'SELECT instance FROM job_runs GROUP BY instance ORDER BY min(started_at)'
  const rows = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ instance: string }>()
  return rows.map(({ instance }) => instance)
}

/** A lease that a holder on a busy machine renews in time. */
const LASTING = { JOBS_LEASE_SECONDS: '10' }

test(
  'a second process waits and takes over when the first is killed',
  async ({ clickhouseEnv, clickhouse }) => {
    await createTestTables(clickhouse)
    await addBlocks(clickhouse, [HOUR, HOUR + 100])
    const first = startJobs(clickhouseEnv, LASTING)
    await jobsDone(clickhouse, first)
    const second = startJobs(clickhouseEnv, LASTING)
    await until('it waits', () => second.output().includes('jobs wait: another process runs the jobs'), [second])
    await addBlocks(clickhouse, [HOUR + 1000], 3)
    await jobsDone(clickhouse, first)
    expect(second.output()).not.toContain('jobs run')
    expect(await instances(clickhouse)).toHaveLength(1)
    await first.kill('SIGKILL')
    await addBlocks(clickhouse, [HOUR + 2000], 4)
    await jobsDone(clickhouse, second)
    expect(second.output()).toContain('jobs run')
    expect(await instances(clickhouse)).toHaveLength(2)
    expect(await testRows(clickhouse)).toEqual(expectedTestRows([0, 100, 1000, 2000].map((after) => HOUR + after)))
    await second.kill('SIGTERM')
  },
  TIMEOUT_MS,
)

test(
  'a process that was suspended while another took over does no further slot',
  async ({ clickhouseEnv, clickhouse }) => {
    await createTestTables(clickhouse)
    await addBlocks(clickhouse, [HOUR, HOUR + 100])
    const first = startJobs(clickhouseEnv, LASTING)
    await jobsDone(clickhouse, first)
    first.child.kill('SIGSTOP')
    const second = startJobs(clickhouseEnv, LASTING)
    await until('it takes over', () => second.output().includes('jobs run'), [second])
    await second.kill('SIGKILL')
    await addBlocks(clickhouse, [HOUR + 1000], 3)
    const third = startJobs(clickhouseEnv, LASTING)
    await jobsDone(clickhouse, third)
    const before = await instances(clickhouse)
    first.child.kill('SIGCONT')
    await until('it notices', () => /the lease (is lost|has expired)/.test(first.output()), [first, third])
    await addBlocks(clickhouse, [HOUR + 2000], 4)
    await jobsDone(clickhouse, third)
    expect(await instances(clickhouse)).toEqual(before)
    expect(await testRows(clickhouse)).toEqual(expectedTestRows([0, 100, 1000, 2000].map((after) => HOUR + after)))
    await Promise.all([first.kill('SIGTERM'), third.kill('SIGTERM')])
  },
  TIMEOUT_MS,
)

test(
  'a stuck worker is terminated, its run is recorded as failed, and the slot is retried',
  async ({ clickhouseEnv, clickhouse }) => {
    await createTestTables(clickhouse)
    await addBlocks(clickhouse, [HOUR, HOUR + 200])
    const stuck = startJobs(clickhouseEnv, { STUCK_AT: `${HOUR + 120}`, JOB_SLOT_SECONDS: '3' })
    const failures = async (): Promise<number> => {
      const query = `SELECT toUInt32(count()) AS runs FROM job_runs
                   WHERE job = 'counting' AND slot_at = ${HOUR + 120} AND state = 'failed' AND error LIKE 'no slot was finished within 3 s%'`
      return (await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ runs: number }>())[0]?.runs ?? 0
    }
    await until('two failures', async () => (await failures()) >= 2, [stuck])
    await stuck.kill('SIGTERM')
    const jobs = startJobs(clickhouseEnv)
    await jobsDone(clickhouse, jobs)
    await jobs.kill('SIGTERM')
  },
  TIMEOUT_MS,
)
