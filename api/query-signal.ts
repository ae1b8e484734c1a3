import type { FastifyRequest } from 'fastify'

/** No query that answers a request may take longer. */
const QUERY_TIMEOUT_MS = 15_000

/** Aborts the queries of a request when its client goes away, or all clients that wait for the same, or when they take too long. */
export function querySignal(request: FastifyRequest): AbortSignal {
  return AbortSignal.any([request.sharedSignal ?? request.signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)])
}
