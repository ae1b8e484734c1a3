import { randomUUID } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Redis } from 'ioredis'
import { historyStart } from '../clickhouse/chain/history.js'
import { databaseChainId } from '../clickhouse/chain/identity.js'
import { activeApiKeys, insertApiKeyUses } from '../clickhouse/keys/api-keys.js'
import { stablecoinAddresses } from '../clickhouse/stablecoins/stablecoins.js'
import { METHODOLOGY_HEADER, METHODOLOGY_VERSION } from '../process/methodology.js'
import { adminKeysRoutes } from './admin/keys.js'
import { adminWebhookDeliveriesRoutes } from './admin/webhooks/delivery-routes.js'
import { adminWebhookSwitchesRoutes, adminWebhooksRoutes } from './admin/webhooks/subscription-routes.js'
import { required, type WebhookTerms } from './admin/webhooks/terms.js'
import { createKnownHistory, type KnownHistory } from './answers/as-of.js'
import { type CacheOptions, cache } from './answers/cache/plugin.js'
import { createExportSlots, type ExportSlots } from './answers/export.js'
import { createKnownStables, type KnownStables } from './answers/stable.js'
import { auth } from './callers/auth.js'
import { createKeyUses, type KeyUses } from './callers/keys/key-uses.js'
import { createKnownKeys, type KnownKeys } from './callers/keys/known-keys.js'
import { type Limits, limits } from './callers/limits/plugin.js'
import { createRequestCounter } from './callers/limits/request-counter.js'
import { createPayments } from './callers/payments/payments.js'
import { paid } from './callers/payments/plugin.js'
import type { PaymentTerms } from './callers/payments/terms.js'
import { eventsRoute } from './events/events.js'
import { DEFAULT_STREAMS, type StreamOptions, streamRoute } from './events/stream/stream.js'
import { feeEconomicsRoute } from './fees/fee-economics.js'
import { flowAnomaliesRoute } from './flows/anomalies.js'
import { flowsExportRoute } from './flows/export.js'
import { flowsRoute } from './flows/flows.js'
import { flowsHistoryRoute } from './flows/history.js'
import { serializerCompiler, validatorCompiler } from './http/compilers.js'
import { CONNECTION_LIMITS } from './http/connection-limits.js'
import { docs } from './http/docs.js'
import {
  countRequests,
  createMetrics,
  type Metrics,
  type MetricsAccess,
  metricsRoute,
  showMetrics,
} from './http/metrics.js'
import { openapi } from './http/openapi/plugin.js'
import { rawProblem, sendProblem } from './http/problem.js'
import { createRequestIds, ID_LABEL, requestLog, tracedLogger } from './http/request-log.js'
import { cors, securityHeaders } from './http/security-headers.js'
import { drain, refusals, shedding } from './http/shedding.js'

import { liveRoute, readyRoute } from './service/health.js'
import { indexRoute } from './service/index-links.js'
import { createServiceState } from './service/service-state.js'
import { stateMetrics } from './service/state-metrics.js'
import { statusRoute } from './service/status.js'
import { analysisRoute } from './stablecoins/analysis.js'
import { curatedBriefings } from './stablecoins/briefings/briefings.js'
import { depthRoute } from './stablecoins/depth.js'
import { pegRoute } from './stablecoins/peg.js'
import { pegEventsRoute } from './stablecoins/peg-events.js'
import { reservesRoute } from './stablecoins/reserves.js'
import { rewardsRoute } from './stablecoins/rewards.js'
import { riskRoute } from './stablecoins/risk.js'
import { rolesRoute } from './stablecoins/roles.js'
import { pegSeriesRoute, riskSeriesRoute, supplySeriesRoute } from './stablecoins/series.js'
import { stablecoinRoute, stablecoinsRoute } from './stablecoins/stablecoins.js'

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
    history: KnownHistory
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
  /** Whether answers in memory are given before Fastify is asked; they are by default. */
  fastLane?: boolean | undefined
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
  fastLane: hasFastLane = true,
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
    createKnownStables(() => stablecoinAddresses(clickhouse)),
  )
  app.decorate(
    'history',
    createKnownHistory(() => historyStart(clickhouse)),
  )
  app.decorate('exportSlots', createExportSlots())
  app.decorate(
    'keys',
    createKnownKeys(() => activeApiKeys(clickhouse, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) })),
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
  const readChainId = () => databaseChainId(clickhouse)
  const payments = terms && createPayments({ terms, records, readChainId, log: logger })
  limits(app, callerLimits, createRequestCounter(redis ?? null, database, logger), payments)
  paid(app, payments)
  cache(app, cacheOptions, database)
  await openapi(app, terms)
  await app.register(docs)
  await app.register(liveRoute)
  await app.register(readyRoute)
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
      await api.register(stablecoinsRoute)
      await api.register(stablecoinRoute)
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
      await api.register(pegSeriesRoute)
      await api.register(supplySeriesRoute)
      await api.register(riskSeriesRoute)
      await api.register(statusRoute(readState))
      await api.register(eventsRoute)
      await api.register(streamRoute({ ...DEFAULT_STREAMS, ...streams }))
    },
    { prefix: '/api/v1' },
  )
  if (hasFastLane) await app.register(import('./fast-lane/fast-lane.js'), { newId, trustProxy })
  return app
}
