import { fileURLToPath } from 'node:url'
import { SLOT_JOBS } from '../clickhouse/jobs/periods.js'
import { parseEnv } from '../process/environment.js'
import { runProcess } from '../process/run-process.js'
import { JobsConfig } from './config.js'
import { createJobsMetrics } from './metrics.js'
import { runJobs } from './schedule/run.js'
import type { ScheduledJob } from './schedule/schedule.js'

/** Every job; its worker has the same name. The health monitor and webhooks run continuously, not by slots. */
const JOBS: readonly ScheduledJob[] = [
  ...SLOT_JOBS,
  { name: 'health', period_seconds: null },
  { name: 'webhooks', period_seconds: null },
].map((job) => ({ ...job, path: fileURLToPath(new URL(`./workers/${job.name}.js`, import.meta.url)) }))

const readConfig = () => parseEnv(JobsConfig, process.env)

await runProcess('jobs', readConfig, async ({ config, log, signal }) => {
  if (!config.SECRETS_KEY) console.log('jobs do not send webhooks: SECRETS_KEY is not set')
  const jobs = JOBS.filter(({ name }) => name !== 'webhooks' || config.SECRETS_KEY)
  const metrics = createJobsMetrics(jobs.map(({ name }) => name))
  await runJobs({ config, jobs, slotJobs: SLOT_JOBS, print: console.log, log, signal, metrics })
})
