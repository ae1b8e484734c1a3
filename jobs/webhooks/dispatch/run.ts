import type { Logger } from 'pino'
import { connect } from '../../../clickhouse/store/client.js'
import { targetRules } from '../../../clickhouse/webhooks/targets.js'
import { linkBase } from '../../../process/link-base.js'
import type { JobsConfig } from '../../config.js'
import { nameServers } from '../guard/checked-lookup.js'
import { createSender } from '../send/sender.js'
import { Dispatcher } from './dispatcher.js'

const HOUR_MS = 3_600_000
/** The time limit of the whole exchange, as documented for receivers. */
const TIMEOUT_MS = 10_000

type Options = {
  config: JobsConfig & { SECRETS_KEY: Buffer }
  instance: string
  mayBegin: () => boolean
  log: Logger
  signal: AbortSignal
}

/** Sends webhooks as configured until `signal` aborts and all attempts in flight have ended. */
export async function runWebhooks({ config, instance, mayBegin, log, signal }: Options): Promise<void> {
  const clickhouse = connect(config, { application: 'plumbline-webhooks', maxOpenConnections: 6 })
  const sender = createSender({
    rules: targetRules(config),
    resolve: nameServers(),
    timeoutMs: TIMEOUT_MS,
    userAgent: `Service-Webhook/1 (+${config.WEBHOOK_SITE_URL})`,
  })
  const dispatcher = new Dispatcher({
    clickhouse,
    sender,
    secretsKey: config.SECRETS_KEY,
    instance,
    mayBegin,
    maxInFlight: config.WEBHOOK_MAX_IN_FLIGHT,
    maxInFlightOfOne: config.WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT,
    maxEventAgeMs: config.WEBHOOK_MAX_EVENT_AGE_HOURS * HOUR_MS,
    siteUrl: config.PUBLIC_URL === undefined ? null : linkBase(config.PUBLIC_URL),
    disableAfterMs: config.WEBHOOK_DISABLE_AFTER_HOURS * HOUR_MS,
    log,
    signal,
  })
  try {
    await dispatcher.run()
  } finally {
    await sender.close()
    await clickhouse.close()
  }
}
