import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { InvalidKeyError, PaymentRequiredError } from '../request-errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What one request costs, in whole units of the reference stable; without it a route is free. */
    price?: string
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** What comes as a bearer token; null for anything else. */
const bearerToken = (authorization: string): string | null => /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null

/**
 * Lets only those through to routes with a `price` who have one of the subscription keys: others get 402, and 401 for a
 * key that is none. This comes after all `preHandler`s of the route itself, where a route is to refuse what it has no
 * answer to: nobody is asked to pay for that. To be called before the routes are added.
 */
export function paid(app: FastifyInstance, subscriptionKeys: readonly string[]): void {
  const known = subscriptionKeys.map(digest)

  /** Compares with every key, and digests of one length, so that the time taken says nothing about the keys. */
  function isKnown(key: string): boolean {
    const asked = digest(key)
    return known.map((one) => timingSafeEqual(one, asked)).includes(true)
  }

  const gate = (price: string): preHandlerAsyncHookHandler =>
    async function requirePayment({ headers: { authorization } }: FastifyRequest): Promise<void> {
      if (authorization === undefined) throw new PaymentRequiredError(price)
      const key = bearerToken(authorization)
      if (key === null || !isKnown(key)) throw new InvalidKeyError()
    }

  app.addHook('onRoute', (route) => {
    const price = route.config?.price
    if (price === undefined) return
    route.preHandler = [...[route.preHandler ?? []].flat(), gate(price)]
    // Answers are for those who paid, and not for the next who asks a shared cache.
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (_, reply, payload) => {
        if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-store')
        return payload
      },
    ]
  })
}
