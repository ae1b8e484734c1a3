import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { redisLease } from '../../../../jobs/lease/redis-lease.js'
import { checkTerm } from '../../../../jobs/lease/term.js'
import { createTestTables, expectedTestRows, testRows } from '../../../support/jobs/jobs.js'
import { jobsDone, startJobs, until } from '../../../support/jobs/process.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const HOUR = 1_760_000_400
/** Long enough for processes to start and leases to expire on a busy machine. */
const TIMEOUT_MS = 300_000

test('one process gets the lease; if Redis loses it, the previous process is fenced off', async ({
  clickhouseEnv,
  clickhouse,
  redis: server,
}) => {
  const redis = new Redis(server.url)
  const tryLease = (instance: string) =>
    redisLease(redis, clickhouseEnv.CLICKHOUSE_DATABASE, clickhouse, instance, 600_000)()
  const leases = await Promise.all(['a', 'b', 'c', 'd'].map(tryLease))
  const [first, ...others] = leases.filter((lease) => lease !== null)
  expect(others).toEqual([])
  expect(await first?.renew()).toBe(true)
  await redis.flushall()
  const second = await tryLease('e')
  expect(second?.term).toBeGreaterThan(first?.term as number)
  expect(await first?.renew()).toBe(false)
  // A process that has lost the lease cannot release that of another.
  await first?.release()
  expect(await tryLease('f')).toBeNull()
  await checkTerm(clickhouse, { term: second?.term as number, instance: 'e' })
  await second?.release()
  expect((await tryLease('f'))?.term).toBeGreaterThan(second?.term as number)
  redis.disconnect()
})

test(
  'the jobs pause when Redis dies and resume when it is back without its data: nothing is lost or done twice',
  async ({ clickhouseEnv, clickhouse, redis: server }) => {
    await createTestTables(clickhouse)
    await addBlocks(clickhouse, [HOUR, HOUR + 1000])
    const env = { REDIS_URL: server.url }
    const processes = [startJobs(clickhouseEnv, env), startJobs(clickhouseEnv, env)]
    const [one, other] = processes as [(typeof processes)[0], (typeof processes)[0]]
    await jobsDone(clickhouse, one)
    await until(
      'one waits',
      () => processes.some(({ output }) => output().includes('another process runs the jobs')),
      processes,
    )
    await server.kill()
    await until(
      'it pauses',
      () => processes.some(({ output }) => output().includes('the lease has expired')),
      processes,
    )
    await addBlocks(clickhouse, [HOUR + 2000], 3)
    await server.startAgain()
    await jobsDone(clickhouse, other)
    await Promise.all(processes.map(({ kill }) => kill('SIGTERM')))
    expect(await testRows(clickhouse)).toEqual(expectedTestRows([HOUR, HOUR + 1000, HOUR + 2000]))
  },
  TIMEOUT_MS,
)
