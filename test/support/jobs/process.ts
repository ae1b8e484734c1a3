import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ClickHouseClient } from '@clickhouse/client'
import type { SlotJob } from '../../../clickhouse/jobs/periods.js'
import type { ClickHouseEnv } from '../../../clickhouse/store/client.js'
import { findDueSlots } from '../../../jobs/schedule/run-slots.js'
import { type IngestProcess, processOf } from '../ingest.js'
import { ALL_JOBS, TEST_JOBS } from './jobs.js'

const PROGRAM = fileURLToPath(new URL('../../../dist/test/support/jobs/main.js', import.meta.url))

/** Starts the compiled jobs process with `jobs` and a short lease. */
export const startJobs = (
  clickhouse: ClickHouseEnv,
  env: Record<string, string> = {},
  jobs: readonly SlotJob[] = TEST_JOBS,
): IngestProcess =>
  processOf(
    spawn(process.execPath, [PROGRAM], {
      env: {
        ...process.env,
        ...clickhouse,
        JOBS: jobs.map(({ name }) => name).join(','),
        JOBS_LEASE_SECONDS: '2',
        LOG_LEVEL: 'info',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  )

/** Waits until `isSo` is true; fails after `seconds` with the output of the processes. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  processes: readonly IngestProcess[],
  seconds = 240,
): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(500)) if (await isSo()) return
  throw new Error(`not within ${seconds} s: ${what}\n${processes.map(({ output }) => output()).join('\n---\n')}`)
}

/** Waits until none of `jobs` has a slot to do. */
export const jobsDone = (
  clickhouse: ClickHouseClient,
  process: IngestProcess,
  seconds = 240,
  jobs: readonly SlotJob[] = TEST_JOBS,
): Promise<void> =>
  until(
    'every slot done',
    async () => {
      for (const job of jobs) if ((await findDueSlots(clickhouse, job, ALL_JOBS, 1)).length > 0) return false
      return true
    },
    [process],
    seconds,
  )
