import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ForbiddenError, InvalidKeyError, MissingKeyError } from '../http/errors.js'
import type { ActiveKey } from './keys/active-keys.js'
import { hashOf, isSameHash, type KeyScope } from './keys/api-key.js'

/** The caller of a request: without a key, with a subscription key, or the operator. */
export type Caller =
  | { tier: 'free' }
  | { tier: 'subscriber'; keyId: string; scopes: readonly string[]; requestsPerMinute: number }
  | { tier: 'admin' }

/** Whether a scope's access is granted to the caller. The operator has every scope. */
export const hasScope = (caller: Caller, scope: KeyScope): boolean =>
  caller.tier === 'admin' || (caller.tier === 'subscriber' && caller.scopes.includes(scope))

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
    /** The key is invalid, on a route with a price: refused there, together with the challenge that can be paid. */
    hasInvalidKey: boolean
  }
  interface FastifyContextConfig {
    /** Only for callers of this tier. */
    tier?: 'admin'
    /** Answers every caller, even with an invalid key, above the limit or under overload. */
    always?: true
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The caller of an Authorization header if it is known at once; null if it must be looked up, or is not a valid
     * key.
     */
    identify: (authorization: string | undefined) => Caller | null
  }
}

/** Whether an Authorization header has the scheme of payments, even without a credential. */
export const isPayment = (authorization: string): boolean => /^Payment(?: |$)/i.test(authorization)

const FREE: Caller = { tier: 'free' }
const ADMIN: Caller = { tier: 'admin' }

/** The bearer token; null for anything else. */
const bearerToken = (authorization: string): string | null => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null

/**
 * Sets every request's `caller` by its bearer token: the admin key, or one of `app.keys`. An invalid key is a 401 on
 * every route, so that a mistyped key is noticed, and a 429 after too many. Payments use the same header; the routes
 * with a price handle them.
 * Routes with a `tier` are for that tier only. Call it before the routes are added.
 */
export function auth(app: FastifyInstance, adminKey: string | undefined): void {
  const adminHash = adminKey === undefined ? null : hashOf(adminKey)

  const isAdmin = (token: string): boolean => adminHash !== null && isSameHash(hashOf(token), adminHash)

  function subscriber(key: ActiveKey): Caller {
    app.keyUses.add(key.id, app.now())
    return { tier: 'subscriber', keyId: key.id, scopes: key.scopes, requestsPerMinute: key.requests_per_minute }
  }

  /** Looks up a caller that is not known at once. */
  async function lookUp(request: FastifyRequest, authorization: string): Promise<Caller> {
    const token = bearerToken(authorization)
    const key = token && (await app.keys.find(token))
    if (key) return subscriber(key)
    const refusal = await app.refuseKey(request)
    request.hasInvalidKey = refusal instanceof InvalidKeyError && request.routeOptions.config.price !== undefined
    if (request.hasInvalidKey) return FREE
    throw refusal
  }

  app.decorate('identify', (authorization) => {
    if (authorization === undefined) return FREE
    const token = bearerToken(authorization)
    if (token === null) return null
    if (isAdmin(token)) return ADMIN
    const key = app.keys.findNow(token)
    return key && subscriber(key)
  })

  app.decorateRequest('caller')
  app.decorateRequest('hasInvalidKey', false)
  app.addHook('onRequest', (request, _, done) => {
    const { tier, always } = request.routeOptions.config
    const { authorization } = request.headers
    request.caller = FREE
    if (always) return done()
    if (authorization === undefined || isPayment(authorization))
      return done(tier === undefined ? undefined : new MissingKeyError())
    const admit = (caller: Caller): void => {
      request.caller = caller
      done(tier === undefined || caller.tier === tier ? undefined : new ForbiddenError())
    }
    const caller = app.identify(authorization)
    if (caller) admit(caller)
    else lookUp(request, authorization).then(admit, done)
  })
}
