import type { FastifyRequest } from 'fastify'
import type { QuerySignal } from '../../clickhouse/store/define-query.js'
import { traceparentOf } from '../http/request-log.js'

/** Most milliseconds that a query of a request may take. */
export const QUERY_TIMEOUT_MS = 15_000

/**
 * Aborts the queries of a request when its client (or every client that shares the answer) goes away, or when they take
 * too long; also lets them continue the request's trace.
 */
export function querySignal(request: FastifyRequest, timeoutMs = QUERY_TIMEOUT_MS): QuerySignal {
  const signal = AbortSignal.any([request.sharedSignal ?? request.signal, AbortSignal.timeout(timeoutMs)])
  return Object.assign(signal, { traceparent: traceparentOf(request.server.traceOf(request)) })
}
