import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, Gauge, Registry } from 'prom-client'
import { countQueries, queryDurations } from '../../clickhouse/store/query-metrics.js'
import { judgeReader, type MetricsAccess } from '../../process/metrics-access.js'
import { InvalidRequestError, NotFoundError } from './errors.js'
import { createRequestTimes } from './request-times.js'

export type Metrics = ReturnType<typeof createMetrics>

/**
 * The metrics that a process counts, in its own registry, except `requests`. Labels have closed sets of values: route
 * patterns, query names, words of this code. Never anything that a client sent, which would grow without bound.
 */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    /** Every request, from its first byte to the end of its answer. */
    requests: createRequestTimes(),
    requestsRunning: new Gauge({
      name: 'plumbline_http_requests_running',
      help: 'Requests that have arrived and are not answered yet',
      registers,
    }),
    queries: queryDurations(registry),
    /** `result` is hit, miss or stale. */
    cacheLookups: new Counter({
      name: 'plumbline_cache_lookups_total',
      help: 'Lookups in the cache of answers, by result',
      labelNames: ['result'] as const,
      registers,
    }),
    /**
     * `outcome` is challenged (sent the price), refused, limited (one of too many), undecided (the chain is unreachable, or another request uses
     * the payment), answered, or unanswered (paid, but the answer did not arrive: it can be requested again).
     */
    payments: new Counter({
      name: 'plumbline_payments_total',
      help: 'Requests to routes with a price that came without a key, by outcome',
      labelNames: ['route', 'outcome'] as const,
      registers,
    }),
    /** `tier` is that of the caller: free, subscriber or admin. */
    rateLimited: new Counter({
      name: 'plumbline_rate_limited_total',
      help: 'Requests above the limit of their caller, which were refused or sent the price',
      labelNames: ['tier'] as const,
      registers,
    }),
    /** `outcome` is refused (401), or limited (429: too many from an address). */
    invalidKeys: new Counter({
      name: 'plumbline_invalid_keys_total',
      help: 'Requests with an invalid key, by outcome',
      labelNames: ['outcome'] as const,
      registers,
    }),
    shed: new Counter({
      name: 'plumbline_shed_total',
      help: 'Requests that were refused because the process was overloaded',
      registers,
    }),
    streams: new Gauge({ name: 'plumbline_streams', help: 'Open streams of events', registers }),
  }
}

const METRICS_PATH = '/metrics'
const NO_PARAMETERS = 'is not a parameter of this route'

/** The status of an answer that the client did not wait for, as in nginx. */
const CLIENT_GONE = 499

/** Rejects if the request may not read the metrics. Without a token, the route appears not to exist. */
async function checkAccess(access: MetricsAccess, request: FastifyRequest): Promise<void> {
  const verdict = judgeReader(access, request)
  if (verdict === 'refused') throw await request.server.refuseKey(request)
  if (verdict === 'hidden') throw new NotFoundError('unknown-route', `there is nothing at ${METRICS_PATH}`)
}

/** Counts every request by the pattern of its route, and every query by its name. */
export function countRequests(app: FastifyInstance): void {
  const { requests, requestsRunning, queries } = app.metrics
  for (const client of new Set([app.clickhouse, app.records])) countQueries(client, queries)

  app.addHook('onRequest', (request, reply, done) => {
    requestsRunning.inc()
    // The only event that always occurs: an answer that nobody waits for never finishes.
    reply.raw.once('close', () => {
      requestsRunning.dec()
      const { url: route = 'none' } = request.routeOptions
      const method = request.is404 ? 'any' : request.method
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE
      requests.observe(method, route, status, reply.elapsedTime / 1000)
    })
    done()
  })
}

/**
 * Serves the metrics at /metrics, to those who may read them, once the route exists. `readMore` reads the metrics that
 * are not counted here. Call it before any hook that may refuse a request: metrics are read when something is wrong,
 * and without a key.
 */
export function showMetrics(app: FastifyInstance, access: MetricsAccess, readMore: () => Promise<string>): void {
  if (access === 'off') return
  const { registry, requests, cacheLookups } = app.metrics
  async function show(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await checkAccess(access, request)
    const [parameter] = Object.keys(request.query as object)
    if (parameter !== undefined) throw new InvalidRequestError([{ parameter, detail: NO_PARAMETERS }])
    const read = await readMore()
    cacheLookups.reset()
    // The cache keeps its own counts, because it answers faster than these metrics count.
    for (const [result, count] of Object.entries(app.cacheCounts)) cacheLookups.inc({ result }, count)
    reply.headers({ 'content-type': registry.contentType, 'cache-control': 'no-store' })
    reply.send(`${await registry.metrics()}${requests.text()}${read}`)
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.url === METRICS_PATH) show(request, reply).catch(done)
    else done()
  })
}

/** Adds the route of the metrics; `showMetrics` answers before its handler runs. */
export const metricsRoute: FastifyPluginAsync = async (app) => {
  app.get(METRICS_PATH, { schema: { hide: true } }, async () => '')
}
