import { fileURLToPath } from 'node:url'
import { SLOT_JOBS } from '../../../clickhouse/jobs/periods.js'
import { JobsConfig } from '../../../jobs/config.js'
import { createJobsMetrics } from '../../../jobs/metrics.js'
import { runJobs } from '../../../jobs/schedule/run.js'
import { parseEnv } from '../../../process/environment.js'
import { runProcess } from '../../../process/run-process.js'
import { ALL_JOBS } from './jobs.js'

// The jobs process with the jobs in JOBS, which run every other second, or every RUN_EVERY_SECONDS; webhooks are sent
// continuously.
const path = (folder: string, name: string): string => fileURLToPath(new URL(`${folder}/${name}.js`, import.meta.url))
const isProduct = (name: string): boolean => name === 'webhooks' || SLOT_JOBS.some((job) => job.name === name)
const WEBHOOKS = { name: 'webhooks' }

const readConfig = () => parseEnv(JobsConfig, process.env)

await runProcess('jobs', readConfig, ({ config, log, signal }) =>
  runJobs({
    config,
    jobs: [...ALL_JOBS, WEBHOOKS]
      .filter(({ name }) => process.env.JOBS?.split(',').includes(name))
      .map((job) => ({
        ...job,
        period_seconds: job === WEBHOOKS ? null : Number(process.env.RUN_EVERY_SECONDS ?? 2),
        path: path(isProduct(job.name) ? '../../../jobs/workers' : '.', job.name),
      })),
    slotJobs: ALL_JOBS,
    print: console.log,
    log,
    signal,
    metrics: createJobsMetrics(process.env.JOBS?.split(',') ?? []),
  }),
)
