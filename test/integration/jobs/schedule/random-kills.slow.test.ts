import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { findDueSlots } from '../../../../jobs/schedule/run-slots.js'
import { randomFor } from '../../../../local/chain/random.js'
import { depth } from '../../../support/depth.js'
import { COUNTING, createTestTables, expectedTestRows, testRows } from '../../../support/jobs/jobs.js'
import { jobsDone, startJobs, until } from '../../../support/jobs/process.js'
import { addBlocks } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const KILLS = depth('KILL_ROUNDS', 3, 50)
const SEED = Number(process.env.FAULT_SEED ?? 1)
const HOUR = 1_760_000_400
/** Enough slots for a process to be busy at every kill, and few enough to catch up on in the end. */
const SLOTS_OF_A_ROUND = 30
const LATEST_KILL_MS = 800

test(
  'kill -9 of the jobs at random moments loses no row and writes none twice',
  async ({ clickhouseEnv, clickhouse }) => {
    await createTestTables(clickhouse)
    const random = randomFor(SEED, 'kills')
    const times: number[] = []
    const addHours = async (): Promise<void> => {
      const more = Array.from({ length: SLOTS_OF_A_ROUND * 2 }, (_, i) => HOUR + 30 * (times.length + i))
      await addBlocks(clickhouse, more, times.length + 1)
      times.push(...more)
    }
    const runs = async (): Promise<number> => {
      const query = 'SELECT toUInt32(count()) AS runs FROM job_runs'
      return (await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ runs: number }>())[0]?.runs ?? 0
    }
    let atWork = 0
    for (let kill = 0; kill < KILLS; kill++) {
      await addHours()
      const before = await runs()
      const jobs = startJobs(clickhouseEnv, { JOBS_LEASE_SECONDS: '1' })
      await until('it runs slots', async () => (await runs()) > before, [jobs])
      await sleep(random.next() * LATEST_KILL_MS)
      await jobs.kill('SIGKILL')
      if ((await findDueSlots(clickhouse, COUNTING, [], 1)).length > 0) atWork++
    }
    expect(atWork).toBeGreaterThan(KILLS / 2)
    const jobs = startJobs(clickhouseEnv)
    await jobsDone(clickhouse, jobs, 240 + KILLS * 10)
    await jobs.kill('SIGTERM')
    expect(await testRows(clickhouse), `FAULT_SEED=${SEED}`).toEqual(expectedTestRows(times))
  },
  300_000 + KILLS * 20_000,
)
