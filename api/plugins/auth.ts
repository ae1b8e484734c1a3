import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { InvalidKeyError } from '../request-errors.js'

/** Whoever asks: anybody, or someone with a subscription key, who pays for no request. */
type Caller = { tier: 'free' } | { tier: 'subscriber' }

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

const FREE: Caller = { tier: 'free' }
const SUBSCRIBER: Caller = { tier: 'subscriber' }

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What comes as a bearer token; null for anything else. */
const bearerToken = (authorization: string): string | null => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null

/**
 * Tells every request's `caller` by its key, a bearer token. What is no key is 401 everywhere: who mistyped one has to
 * hear of it. Payments use the same header; they are left to the routes with a price. To be called before the routes
 * are added.
 */
export function auth(app: FastifyInstance, subscriptionKeys: readonly string[]): void {
  const known = subscriptionKeys.map(digest)

  /** Compares with every key, and digests of one length, so that the time taken says nothing about the keys. */
  function isKnown(key: string): boolean {
    const asked = digest(key)
    return known.map((one) => timingSafeEqual(one, asked)).includes(true)
  }

  app.decorateRequest('caller')
  app.addHook('onRequest', async (request) => {
    request.caller = FREE
    const { authorization } = request.headers
    if (authorization === undefined || /^Payment /i.test(authorization)) return
    const key = bearerToken(authorization)
    if (key === null || !isKnown(key)) throw new InvalidKeyError()
    request.caller = SUBSCRIBER
  })
}
