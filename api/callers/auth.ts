import type { FastifyInstance } from 'fastify'
import { ForbiddenError, InvalidKeyError, MissingKeyError } from '../http/errors.js'
import { hashOf, isSameHash, type KeyScope } from './keys/api-key.js'
import type { KnownKey } from './keys/known-keys.js'

/** Whoever asks: anybody, someone with a key of his own, or the operator. */
export type Caller =
  | { tier: 'free' }
  | { tier: 'subscriber'; keyId: string; scopes: readonly string[]; requestsPerMinute: number }
  | { tier: 'admin' }

/** Whether the caller may have what a scope opens. The operator may have everything. */
export const hasScope = (caller: Caller, scope: KeyScope): boolean =>
  caller.tier === 'admin' || (caller.tier === 'subscriber' && caller.scopes.includes(scope))

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
  interface FastifyContextConfig {
    /** Only for callers of this tier. */
    tier?: 'admin'
    /** Answers whoever asks: neither a wrong key nor a limit nor load keeps it from that. */
    always?: true
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Who sends an Authorization header, where that can be told at once; null where it has to be looked up, or is no key. */
    identify: (authorization: string | undefined) => Caller | null
  }
}

const FREE: Caller = { tier: 'free' }
const ADMIN: Caller = { tier: 'admin' }

/** What comes as a bearer token; null for anything else. */
const bearerToken = (authorization: string): string | null => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null

/**
 * Tells every request's `caller` by its key, a bearer token: the admin key, or one of `app.keys`. What is no key is 401
 * everywhere: who mistyped one has to hear of it. Payments use the same header; they are left to the routes with a
 * price. Routes of a `tier` are for that tier only. To be called before the routes are added.
 */
export function auth(app: FastifyInstance, adminKey: string | undefined): void {
  const adminHash = adminKey === undefined ? null : hashOf(adminKey)

  const isAdmin = (token: string): boolean => adminHash !== null && isSameHash(hashOf(token), adminHash)

  function subscriber(key: KnownKey): Caller {
    app.keyUses.add(key.id, app.now())
    return { tier: 'subscriber', keyId: key.id, scopes: key.scopes, requestsPerMinute: key.requests_per_minute }
  }

  /** The caller that could not be told at once. */
  async function lookUp(authorization: string): Promise<Caller> {
    const token = bearerToken(authorization)
    const key = token && (await app.keys.find(token))
    if (!key) throw new InvalidKeyError()
    return subscriber(key)
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
  app.addHook('onRequest', (request, _, done) => {
    const { tier, always } = request.routeOptions.config
    const { authorization } = request.headers
    request.caller = FREE
    if (always) return done()
    if (authorization === undefined || /^Payment /i.test(authorization))
      return done(tier === undefined ? undefined : new MissingKeyError())
    const admit = (caller: Caller): void => {
      request.caller = caller
      done(tier === undefined || caller.tier === tier ? undefined : new ForbiddenError())
    }
    const known = app.identify(authorization)
    if (known) admit(known)
    else lookUp(authorization).then(admit, done)
  })
}
