import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { collectDefaultMetrics } from 'prom-client'
import { connect } from '../clickhouse/store/client.js'
import { CURRENT_TABLES } from '../clickhouse/tables.js'
import { parseEnv } from '../process/environment.js'
import { listen } from '../process/listen.js'
import { openFilesProblem } from '../process/open-files.js'
import { connectRedis, REDIS_TIMEOUT_MS } from '../process/redis.js'
import { runProcess } from '../process/run-process.js'
import { webhookTermsOf } from './admin/webhooks/terms.js'
import { buildApp } from './app.js'
import { paymentTermsOf } from './callers/payments/env.js'
import { ApiConfig, readsEnv, recordsEnv } from './config.js'
import { createMetrics } from './http/metrics.js'

/** How often idle connections are closed during shutdown. */
const CLOSE_IDLE_MS = 100

const readConfig = () => parseEnv(ApiConfig, process.env)

await runProcess('api', readConfig, async ({ config, log: logger, signal }) => {
  const clickhouse = connect(readsEnv(config), {
    application: 'plumbline-api',
    maxOpenConnections: 32,
    reads: { currentOnly: CURRENT_TABLES },
  })
  const records = connect(recordsEnv(config), { application: 'plumbline-api', maxOpenConnections: 8 })
  const redis = config.REDIS_URL ? connectRedis(config.REDIS_URL, REDIS_TIMEOUT_MS) : undefined
  redis?.on('error', (error) => logger.warn({ reason: error.message }, 'redis is unreachable'))
  const metrics = createMetrics()
  // Metrics of the whole process are registered here, and not in every app that a test builds.
  collectDefaultMetrics({ register: metrics.registry })
  if (config.SECRETS_KEY === undefined) logger.warn('webhooks are disabled, because SECRETS_KEY is not set')
  const filesProblem = openFilesProblem(config.STREAM_CONNECTIONS)
  if (filesProblem) logger.warn(filesProblem)
  const draining = new AbortController()
  const app = await buildApp({
    clickhouse,
    records,
    redis,
    now: () => new Date(),
    adminKey: config.ADMIN_API_KEY,
    limits: { free: config.FREE_REQUESTS_PER_MINUTE, key: config.KEY_REQUESTS_PER_MINUTE },
    trustProxy: config.TRUST_PROXY,
    keepAliveSeconds: config.KEEP_ALIVE_SECONDS,
    maxEventLoopDelayMs: config.MAX_EVENT_LOOP_DELAY_MS,
    database: config.CLICKHOUSE_DATABASE,
    cache: { maxBytes: config.CACHE_MEMORY_MB * 2 ** 20 },
    metrics,
    metricsAccess: config.METRICS,
    loggedShare: config.LOG_REQUESTS,
    draining: draining.signal,
    streams: {
      total: config.STREAM_CONNECTIONS,
      perAddress: config.STREAM_CONNECTIONS_PER_ADDRESS,
      perKey: config.STREAM_CONNECTIONS_PER_KEY,
    },
    payments: paymentTermsOf(config),
    webhooks: webhookTermsOf(config),
    publicUrl: config.PUBLIC_URL,
    dashboard: fileURLToPath(new URL('../dashboard', import.meta.url)),
    logger,
  })
  try {
    const url = await listen(app, { name: 'HOST', value: config.HOST }, { name: 'PORT', value: config.PORT })
    console.log(`api ready at ${url}/api/v1/stablecoins`)
    if (!signal.aborted) await once(signal, 'abort')
    logger.info('shutting down: no longer ready')
    draining.abort()
    // Requests are still accepted, until load balancers notice.
    await sleep(config.DRAIN_NOTICE_SECONDS * 1000)
  } finally {
    setTimeout(() => {
      logger.warn({ after_seconds: config.DRAIN_SECONDS }, 'cutting off requests that are still running')
      process.exit(0)
    }, config.DRAIN_SECONDS * 1000).unref()
    // Nothing else closes a connection whose last answer began before the shutdown.
    setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS).unref()
    await app.close()
    redis?.disconnect()
    await Promise.all([clickhouse.close(), records.close()])
  }
})
