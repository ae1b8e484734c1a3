import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createRequestTimes, SECONDS } from './request-times.js'

export type Metrics = ReturnType<typeof createMetrics>

/**
 * What a process counts while it serves, in a registry of its own, but for `requests`. Labels come from closed sets:
 * patterns of routes, names of queries, words of this code. Never what a client sent, which would grow without bound.
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
    /** Each read and write, `outcome` being ok, failed, timeout or aborted (nobody waited for it any more). */
    queries: new Histogram({
      name: 'plumbline_clickhouse_query_duration_seconds',
      help: 'Time of a query to its last row; of an export, to its first bytes',
      labelNames: ['query', 'outcome'] as const,
      buckets: SECONDS,
      registers,
    }),
    /** `result` is hit, miss or stale. */
    cacheLookups: new Counter({
      name: 'plumbline_cache_lookups_total',
      help: 'Looks into the cache of whole answers, by what they found',
      labelNames: ['result'] as const,
      registers,
    }),
    /**
     * `outcome` is challenged (told the price), refused, undecided (the chain cannot be asked, or another request uses the
     * payment), answered, or unanswered (paid, and its answer did not come through: it can be asked for again).
     */
    payments: new Counter({
      name: 'plumbline_payments_total',
      help: 'Requests that were to be paid for by the request, by how that ended',
      labelNames: ['route', 'outcome'] as const,
      registers,
    }),
    /** `tier` is that of the caller: free, subscriber or admin. */
    rateLimited: new Counter({
      name: 'plumbline_rate_limited_total',
      help: 'Requests above the limit of their caller, which are refused or told the price',
      labelNames: ['tier'] as const,
      registers,
    }),
    shed: new Counter({
      name: 'plumbline_shed_total',
      help: 'Requests that were refused because the process had too much to do',
      registers,
    }),
    streams: new Gauge({ name: 'plumbline_streams', help: 'Open streams of events', registers }),
  }
}
