import type { ClickHouseClient } from '@clickhouse/client'
import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'
import { databaseChainId } from '../clickhouse/chain/identity.js'
import { readStorage } from '../clickhouse/store/storage.js'
import { showMemories } from '../process/memory-metrics.js'
import type { MetricsAccess } from '../process/metrics-access.js'
import type { WebhookTerms } from './admin/webhooks/terms.js'
import { type CacheOptions, cache } from './answers/cache/plugin.js'
import { auth } from './callers/auth.js'
import { invalidKeys, MOST_INVALID_KEYS } from './callers/keys/invalid-keys.js'
import { askerOf, type Limits, limits } from './callers/limits/plugin.js'
import { createRequestCounter } from './callers/limits/request-counter.js'
import { createPayments, paymentInfo } from './callers/payments/payments.js'
import { paid } from './callers/payments/plugin.js'
import { createScreen } from './callers/payments/screen.js'
import type { PaymentTerms } from './callers/payments/terms.js'
import { DEFAULT_STREAMS, type StreamOptions } from './events/stream/stream.js'
import { KEEP_ALIVE_SECONDS } from './http/connection-limits.js'
import { dashboard, isBuilt, preferences } from './http/dashboard.js'
import { docs } from './http/docs.js'
import { documents } from './http/documents.js'
import { countShares, createFairShares } from './http/fair-shares.js'
import { httpInstance } from './http/instance.js'
import { links } from './http/links.js'
import { countRequests, createMetrics, type Metrics, metricsRoute, showMetrics } from './http/metrics.js'
import { openapi } from './http/openapi/plugin.js'
import { createRequestIds, requestLog } from './http/request-log.js'
import { cors, securityHeaders } from './http/security-headers.js'
import { drain, refusals, shedding } from './http/shedding.js'
import { strictQueries } from './http/strict-queries.js'
import { provide } from './provide.js'
import { adminRoutes, elsewhereRoutes, publicRoutes } from './routes.js'
import { liveRoute, readyRoute } from './service/health.js'
import { indexRoute } from './service/index-links.js'
import { createServiceState, TIMEOUT_MS } from './service/service-state.js'
import { stateMetrics } from './service/state-metrics.js'

/** The dependencies of the API. The caller closes what it passes in. */
export type AppDeps = {
  clickhouse: ClickHouseClient
  /** Inserts the API's own records; `clickhouse` if omitted. */
  records?: ClickHouseClient | undefined
  redis?: Redis | undefined
  now: () => Date
  /** Opens the admin routes; they are closed if omitted. */
  adminKey?: string | undefined
  /** No limits if omitted. */
  limits?: Limits | undefined
  /** Addresses and networks of the proxies whose X-Forwarded-For is trusted; none if omitted. */
  trustProxy?: string[] | undefined
  /** How long a connection may be idle between requests; KEEP_ALIVE_SECONDS if omitted. */
  keepAliveSeconds?: number | undefined
  /** Requests are refused while the event loop is delayed by more than this; 0 (the default) never refuses. */
  maxEventLoopDelayMs?: number | undefined
  /** Distinguishes services that share a Redis. */
  database?: string | undefined
  /** If omitted, every request is computed. */
  cache?: CacheOptions | undefined
  /** The metrics; a new registry if omitted. */
  metrics?: Metrics | undefined
  /** Who may read the metrics; programs on this machine if omitted. */
  metricsAccess?: MetricsAccess | undefined
  /** Share of the ordinary requests that are logged, 0 to 1; none by default. */
  loggedShare?: number | undefined
  /** Aborted by the caller some time before it closes the app. */
  draining?: AbortSignal | undefined
  /** Options of streams that differ from DEFAULT_STREAMS. */
  streams?: Partial<StreamOptions> | undefined
  /** The settings of payments; if omitted, routes with a price accept only keys. */
  payments?: PaymentTerms | null | undefined
  /** The settings of webhooks; if omitted, their routes return 503. */
  webhooks?: WebhookTerms | null | undefined
  /** Whether cached answers are sent before Fastify handles the request; true by default. */
  fastLane?: boolean | undefined
  /** The folder of the built page; if omitted or not built, `/` is JSON for everybody. */
  dashboard?: string | undefined
  /** Where people reach the service, for links to it; the address it listens at if omitted. */
  publicUrl?: string | undefined
  logger: FastifyBaseLogger
}

/** The whole HTTP interface, not yet listening. */
export async function buildApp(deps: AppDeps) {
  const { clickhouse, records = clickhouse, redis = null, now, logger } = deps
  const { limits: most = { free: 0, key: 0 }, payments: terms = null, webhooks = null } = deps
  const { metrics = createMetrics(), metricsAccess = 'loopback', draining = new AbortController().signal } = deps
  const { trustProxy = [], keepAliveSeconds = KEEP_ALIVE_SECONDS, database = 'plumbline' } = deps

  const newId = createRequestIds()
  const app = httpInstance({ logger, newId, trustProxy, keepAliveSeconds })
  links(app, deps.publicUrl)
  provide(app, { clickhouse, records, redis, now, metrics, draining })
  showMemories(metrics.registry, app.memories)
  const serviceState = createServiceState(clickhouse, app.memories, now)
  const readChainId = () => databaseChainId(clickhouse)
  const counter = createRequestCounter(redis, database, logger)
  const screen = createScreen({ counter, redis, prefix: `plumbline:${database}` })
  const payments = terms && createPayments({ terms, records, readChainId, screen, log: logger })

  preferences(app)
  strictQueries(app)
  invalidKeys(app, counter, deps.limits ? MOST_INVALID_KEYS : Number.POSITIVE_INFINITY)

  // The hooks of every request, in this order.
  drain(app)
  countRequests(app)
  requestLog(app, deps.loggedShare ?? 0)
  showMetrics(app, metricsAccess, async () => {
    const state = await serviceState.read().catch(() => null)
    // Without a state, a full disk may be why.
    return stateMetrics(
      state,
      state?.storage ?? (await readStorage(clickhouse, { signal: AbortSignal.timeout(TIMEOUT_MS) })),
    )
  })
  securityHeaders(app)
  await cors(app)
  const shares = createFairShares()
  await shedding(app, deps.maxEventLoopDelayMs ?? 0, ({ headers, ip }) =>
    shares.isLarge(askerOf(app.identify(headers.authorization), ip)),
  )
  refusals(app)
  auth(app, deps.adminKey)
  limits(app, most, counter, payments)
  countShares(app, shares)
  paid(app, payments)
  cache(app, deps.cache ?? { maxBytes: 0 }, database)
  await openapi(app, {
    payable: payments && { currencies: payments.currencies, info: paymentInfo },
    requestsPerMinute: most.free,
    readChainId,
  })

  // The routes.
  await app.register(docs)
  await app.register(documents)
  await app.register(liveRoute)
  await app.register(readyRoute)
  if (metricsAccess !== 'off') await app.register(metricsRoute)
  await app.register(indexRoute)
  if (deps.dashboard !== undefined) {
    if (isBuilt(deps.dashboard)) await app.register(dashboard(deps.dashboard))
    else
      logger.warn({ folder: deps.dashboard }, 'the page is not built, so `/` is JSON for browsers too: npm run build')
  }
  await app.register(adminRoutes(most.key, webhooks), { prefix: '/api/admin' })
  await app.register(publicRoutes(serviceState, { ...DEFAULT_STREAMS, ...deps.streams }), { prefix: '/api/v1' })
  await app.register(elsewhereRoutes(serviceState))
  if (deps.fastLane ?? true) await app.register(import('./fast-lane/fast-lane.js'), { newId, trustProxy })
  return app
}
