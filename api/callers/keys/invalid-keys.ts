import type { FastifyInstance, FastifyRequest } from 'fastify'
import { InvalidKeyError, type ProblemError, TooManyInvalidKeysError } from '../../http/errors.js'
import { networkOf } from '../limits/address.js'
import type { RequestCounter } from '../limits/counts.js'

/** Invalid keys that an address may send in a minute. */
export const MOST_INVALID_KEYS = 20

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts and logs a request with an invalid key, and returns its error: 401, or 429 after too many. */
    refuseKey: (request: FastifyRequest) => Promise<ProblemError>
  }
}

/**
 * Limits requests with invalid keys by address, to `most` in a minute. Keys that are valid still work there, because they need no look-up: a
 * mistyped key of a neighbour locks nobody out. Each refusal is logged, without the key; above the limit, requests are
 * only counted.
 */
export function invalidKeys(app: FastifyInstance, { count }: RequestCounter, most = MOST_INVALID_KEYS): void {
  app.decorate('refuseKey', async (request) => {
    const { ip } = request
    const { consumed, resetMs } = await count(`invalid-key:${networkOf(ip)}`, 1)
    const isLimited = consumed > most
    app.metrics.invalidKeys.inc({ outcome: isLimited ? 'limited' : 'refused' })
    if (isLimited) return new TooManyInvalidKeysError(Math.max(Math.ceil(resetMs / 1000), 1))
    const route = request.routeOptions.url ?? null
    request.log.warn({ ip, method: request.method, route }, 'a request with an invalid key was refused')
    return new InvalidKeyError()
  })
}
