import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Redis } from 'ioredis'
import { activeApiKeys } from '../clickhouse/queries/api-keys.js'
import { chainIdentity } from '../clickhouse/queries/chain-identity.js'
import { stablecoinAddresses } from '../clickhouse/queries/stablecoin-addresses.js'
import { insertApiKeyUses } from '../clickhouse/tables/api-keys.js'
import { METHODOLOGY_HEADER, METHODOLOGY_VERSION } from '../domain/methodology.js'
import { curatedBriefings } from './briefings/curated-briefings.js'
import { CONNECTION_LIMITS } from './connection-limits.js'
import { createExportSlots, type ExportSlots } from './export-slots.js'
import { createKeyUses, type KeyUses } from './keys/key-uses.js'
import { createKnownKeys, type KnownKeys } from './keys/known-keys.js'
import { createKnownStables, type KnownStables } from './known-stables.js'
import { addressOf } from './limits/address-of.js'
import { createRequestCounter } from './limits/request-counter.js'
import { createMetrics, type Metrics } from './metrics.js'
import { createPayments } from './payments/payments.js'
import type { PaymentTerms } from './payments/terms.js'
import { auth } from './plugins/auth.js'
import { type CacheOptions, cache } from './plugins/cache.js'
import { cors } from './plugins/cors.js'
import { docs } from './plugins/docs.js'
import { drain } from './plugins/drain.js'
import { fastLane } from './plugins/fast-lane.js'
import { health } from './plugins/health.js'
import { type Limits, limits } from './plugins/limits.js'
import { countRequests, type MetricsAccess, metricsRoute, showMetrics } from './plugins/metrics.js'
import { openapi } from './plugins/openapi.js'
import { paid } from './plugins/paid.js'
import { refusals } from './plugins/refusals.js'
import { ID_LABEL, requestLog, tracedLogger } from './plugins/request-log.js'
import { securityHeaders } from './plugins/security-headers.js'
import { shedding } from './plugins/shedding.js'
import { rawProblem, sendProblem } from './problem.js'
import { createRequestIds } from './request-ids.js'
import { adminKeysRoutes } from './routes/admin-keys.js'
import { adminWebhookDeliveriesRoutes } from './routes/admin-webhook-deliveries.js'
import { adminWebhookSwitchesRoutes } from './routes/admin-webhook-switches.js'
import { adminWebhooksRoutes } from './routes/admin-webhooks.js'
import { analysisRoute } from './routes/analysis.js'
import { depthRoute } from './routes/depth.js'
import { eventsRoute } from './routes/events.js'
import { feeEconomicsRoute } from './routes/fee-economics.js'
import { flowAnomaliesRoute } from './routes/flow-anomalies.js'
import { flowsRoute } from './routes/flows.js'
import { flowsExportRoute } from './routes/flows-export.js'
import { flowsHistoryRoute } from './routes/flows-history.js'
import { indexRoute } from './routes/index-links.js'
import { pegRoute } from './routes/peg.js'
import { pegEventsRoute } from './routes/peg-events.js'
import { reservesRoute } from './routes/reserves.js'
import { rewardsRoute } from './routes/rewards.js'
import { riskRoute } from './routes/risk.js'
import { rolesRoute } from './routes/roles.js'
import { seriesRoutes } from './routes/series.js'
import { stablecoinsRoutes } from './routes/stablecoins.js'
import { statusRoute } from './routes/status.js'
import { DEFAULT_STREAMS, type StreamOptions, streamRoute } from './routes/stream.js'
import { serializerCompiler } from './serializer.js'
import { createServiceState } from './service-state.js'
import { stateMetrics } from './state-metrics.js'
import { validatorCompiler } from './validator.js'
import { required, type WebhookTerms } from './webhooks/terms.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** May only read. */
    clickhouse: ClickHouseClient
    /** Inserts what the API itself keeps. */
    records: ClickHouseClient
    /** null where none is configured. */
    redis: Redis | null
    now: () => Date
    stables: KnownStables
    exportSlots: ExportSlots
    keys: KnownKeys
    keyUses: KeyUses
    metrics: Metrics
    /** Aborted when the process is told to end: what lasts as long as its client likes has to end now. */
    draining: AbortSignal
  }
}

/** A request with a key waits this long for the keys at most. */
const KEYS_TIMEOUT_MS = 1000

/** What the API needs from outside. The caller closes what it passes in. */
export type AppDeps = {
  clickhouse: ClickHouseClient
  /** Inserts what the API itself keeps; `clickhouse` where left out. */
  records?: ClickHouseClient | undefined
  redis?: Redis | undefined
  now: () => Date
  /** Opens the admin routes; they are closed where left out. */
  adminKey?: string | undefined
  /** None where left out. */
  limits?: Limits | undefined
  /** Addresses and networks of the proxies whose X-Forwarded-For is believed; none where left out. */
  trustProxy?: string[] | undefined
  /** Later than this, the event loop takes on no more requests; 0, where left out, for never. */
  maxEventLoopDelayMs?: number | undefined
  /** Tells services on one Redis apart. */
  database?: string | undefined
  /** Every answer is made for its request where this is left out. */
  cache?: CacheOptions | undefined
  /** What is counted; a registry of its own where left out. */
  metrics?: Metrics | undefined
  /** Who may read that; programs on this machine where left out. */
  metricsAccess?: MetricsAccess | undefined
  /** Share of the ordinary requests that are logged, 0 to 1; none by default. */
  loggedShare?: number | undefined
  /** Aborted by the caller some time before it closes the app. */
  draining?: AbortSignal | undefined
  /** How streams behave, where that is not as DEFAULT_STREAMS has it. */
  streams?: Partial<StreamOptions> | undefined
  /** On which terms requests can be paid; without any, only keys open what has a price. */
  payments?: PaymentTerms | null | undefined
  /** On which terms webhooks are taken on; without any, their routes are 503. */
  webhooks?: WebhookTerms | null | undefined
  logger: FastifyBaseLogger
}

/** The whole HTTP interface, not yet listening. */
export async function buildApp({
  clickhouse,
  records = clickhouse,
  redis,
  now,
  adminKey,
  limits: callerLimits = { free: 0, key: 6000 },
  trustProxy = [],
  maxEventLoopDelayMs = 0,
  database = 'plumbline',
  cache: cacheOptions = { maxBytes: 0 },
  metrics = createMetrics(),
  metricsAccess = 'loopback',
  loggedShare = 0,
  draining = new AbortController().signal,
  streams,
  payments: terms = null,
  webhooks = null,
  logger,
}: AppDeps) {
  const curated = curatedBriefings()
  const newId = createRequestIds()
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: ID_LABEL }),
    genReqId: newId,
    ...CONNECTION_LIMITS,
    trustProxy: trustProxy.length > 0 && trustProxy,
    childLoggerFactory: tracedLogger,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 2048, ignoreTrailingSlash: true },
    frameworkErrors: sendProblem,
    clientErrorHandler: (error, socket) => {
      if (socket.writable) socket.end(rawProblem((error as NodeJS.ErrnoException).code))
      else socket.destroy()
    },
  })
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(sendProblem)

  app.decorate('clickhouse', clickhouse)
  app.decorate('records', records)
  app.decorate('redis', redis ?? null)
  app.decorate('now', now)
  app.decorate(
    'stables',
    createKnownStables(async () => (await stablecoinAddresses(clickhouse, {})).map(({ stable }) => stable)),
  )
  app.decorate('exportSlots', createExportSlots())
  app.decorate(
    'keys',
    createKnownKeys(() => activeApiKeys(clickhouse, {}, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) })),
  )
  app.decorate(
    'keyUses',
    createKeyUses((uses) => insertApiKeyUses(records, uses, randomUUID()), logger),
  )
  app.addHook('onClose', () => app.keyUses.close())
  app.decorate('metrics', metrics)
  app.decorate('draining', draining)
  const readState = createServiceState(clickhouse, now)

  drain(app)
  countRequests(app)
  requestLog(app, loggedShare)
  showMetrics(app, metricsAccess, async () => stateMetrics(await readState().catch(() => null)))
  securityHeaders(app)
  await cors(app)
  await shedding(app, maxEventLoopDelayMs)
  refusals(app)
  auth(app, adminKey)
  const readChainId = async () => (await chainIdentity(clickhouse, {}))[0]?.chain_id
  const payments = terms && createPayments({ terms, records, readChainId, log: logger })
  limits(app, callerLimits, createRequestCounter(redis ?? null, database, logger), payments)
  paid(app, payments)
  cache(app, cacheOptions, database)
  await openapi(app, terms)
  await app.register(docs)
  await app.register(health)
  if (metricsAccess !== 'off') await app.register(metricsRoute)
  await app.register(indexRoute)
  await app.register(adminKeysRoutes(callerLimits.key), { prefix: '/api/admin' })
  await app.register(
    async (admin) => {
      admin.addHook('onRequest', async (_, reply) => {
        reply.header('cache-control', 'no-store')
        required(webhooks)
      })
      await admin.register(adminWebhooksRoutes(webhooks))
      await admin.register(adminWebhookSwitchesRoutes(webhooks))
      await admin.register(adminWebhookDeliveriesRoutes)
    },
    { prefix: '/api/admin' },
  )
  await app.register(
    async (api) => {
      api.addHook('onRequest', (_, reply, done) => {
        reply.header(METHODOLOGY_HEADER, METHODOLOGY_VERSION)
        done()
      })
      await api.register(stablecoinsRoutes)
      await api.register(analysisRoute(curated))
      await api.register(pegRoute)
      await api.register(pegEventsRoute)
      await api.register(rewardsRoute)
      await api.register(rolesRoute)
      await api.register(feeEconomicsRoute)
      await api.register(riskRoute)
      await api.register(reservesRoute)
      await api.register(depthRoute)
      await api.register(flowsRoute)
      await api.register(flowsHistoryRoute)
      await api.register(flowAnomaliesRoute)
      await api.register(flowsExportRoute)
      await api.register(seriesRoutes)
      await api.register(statusRoute(readState))
      await api.register(eventsRoute)
      await api.register(streamRoute({ ...DEFAULT_STREAMS, ...streams }))
    },
    { prefix: '/api/v1' },
  )
  fastLane(app, { newId, addressOf: addressOf(trustProxy) })
  return app
}
