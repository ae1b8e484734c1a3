import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { SLOT_JOBS } from '../clickhouse/jobs/periods.js'
import { parseEnv } from '../process/environment.js'
import { exitCodeOf } from '../process/errors.js'
import { JobsConfig } from './config.js'
import { runJobs } from './schedule/run.js'
import type { ScheduledJob } from './schedule/schedule.js'

/** Every job, with a worker of its name. The health monitor goes by the clock, not by slots; webhooks are always sent. */
const JOBS: readonly ScheduledJob[] = [
  ...SLOT_JOBS,
  { name: 'health', period_seconds: 60 },
  { name: 'webhooks', period_seconds: null },
].map((job) => ({ ...job, path: fileURLToPath(new URL(`./workers/${job.name}.js`, import.meta.url)) }))

const stop = new AbortController()
// `disconnect`: the process that started this one is gone.
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(signal, () => stop.abort())

async function main(): Promise<void> {
  const config = parseEnv(JobsConfig, process.env)
  const log = pino({ name: 'jobs', level: config.LOG_LEVEL }, pino.destination({ fd: 2, sync: true }))
  if (!config.SECRETS_KEY) console.log('jobs send no webhooks: SECRETS_KEY is not set')
  const jobs = JOBS.filter(({ name }) => name !== 'webhooks' || config.SECRETS_KEY)
  await runJobs({ config, jobs, say: console.log, log, signal: stop.signal })
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`jobs stop: ${error instanceof Error ? error.message : error}`)
    process.exit(exitCodeOf(error))
  },
)
