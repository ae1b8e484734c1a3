import { parentPort, workerData } from 'node:worker_threads'
import { pino } from 'pino'
import { parseEnv } from '../../process/environment.js'
import { JobsConfig } from '../config.js'
import { LeaseValidity } from '../lease/term.js'
import type { WorkerData, WorkerMessage } from '../schedule/run-worker.js'
import { runWebhooks } from '../webhooks/dispatch/run.js'

const ALIVE_MS = 1000

const { SECRETS_KEY, ...config } = parseEnv(JobsConfig, process.env)
const { instance, validity } = workerData as WorkerData
const lease = new LeaseValidity(validity)
const log = pino({ name: 'webhooks', level: config.LOG_LEVEL }, pino.destination({ fd: 2, sync: true }))
const cancel = new AbortController()
const tell = (message: WorkerMessage): void => parentPort?.postMessage(message)

parentPort?.on('message', (message) => {
  if (message === 'cancel') cancel.abort()
})
const alive = setInterval(() => tell('alive'), ALIVE_MS)
try {
  // Without the key, the jobs do not start this worker.
  if (SECRETS_KEY)
    await runWebhooks({
      config: { ...config, SECRETS_KEY },
      instance,
      mayBegin: () => lease.isGood,
      log,
      signal: cancel.signal,
    })
} catch (error) {
  log.error({ reason: error instanceof Error ? error.message : String(error) }, 'webhooks stop')
} finally {
  clearInterval(alive)
  tell('done')
}
