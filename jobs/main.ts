import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import { pino } from 'pino'
import { exitCodeOf } from '../domain/exit-code.js'
import { parseEnv } from '../domain/parse-env.js'
import { JobsConfig } from './config.js'

const worker = (name: string): string => fileURLToPath(new URL(`./workers/${name}.js`, import.meta.url))

/** The schedule. A run that would overlap the one before is skipped, and one that hangs is ended. */
const JOBS = [{ name: 'check-lag', path: worker('check-lag'), interval: '1m', closeWorkerAfterMs: 30_000 }]

async function main(): Promise<void> {
  const config = parseEnv(JobsConfig, process.env)
  const log = pino({ name: 'jobs', level: config.LOG_LEVEL }, pino.destination({ fd: 2, sync: true }))
  const bree = new Bree({
    root: false,
    // Bree fills in what it is given.
    jobs: JOBS.map((job) => ({ ...job })),
    // Bree's own chatter is about workers coming and going; a run says itself what it found.
    logger: { info: () => {}, warn: log.warn.bind(log), error: log.error.bind(log) },
    errorHandler: (error, { name }) => log.error({ job: name, reason: String(error) }, 'a job failed'),
  })
  await bree.start()
  console.log(`jobs run: ${JOBS.map(({ name, interval }) => `${name} every ${interval}`).join(', ')}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(signal, () => resolve())
  })
  await bree.stop()
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`jobs stop: ${error instanceof Error ? error.message : error}`)
    process.exit(exitCodeOf(error))
  },
)
