import { parentPort } from 'node:worker_threads'
import { pino } from 'pino'
import { connect } from '../../clickhouse/client.js'
import { parseEnv } from '../../domain/parse-env.js'
import { JobsConfig } from '../config.js'
import { checkLag } from '../tasks/check-lag.js'

const config = parseEnv(JobsConfig, process.env)
const log = pino({ name: 'health', level: config.LOG_LEVEL }, pino.destination({ fd: 2, sync: true }))
const clickhouse = connect(config, { application: 'plumbline-jobs', maxOpenConnections: 1 })

try {
  const lagSeconds = await checkLag(clickhouse, new Date())
  if (lagSeconds === null) log.warn('no block has been read yet')
  else if (lagSeconds > config.HEALTH_MAX_LAG_SECONDS)
    log.warn({ lagSeconds }, `the newest block is ${lagSeconds} s old`)
  else log.info({ lagSeconds }, 'ingest keeps up')
} catch (error) {
  log.error({ reason: error instanceof Error ? error.message : String(error) }, 'the lag cannot be read')
} finally {
  await clickhouse.close()
  parentPort?.postMessage('done')
}
