import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { hasScope } from '../caller.js'
import { PaymentRequiredError } from '../request-errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What one request costs, in whole units of the reference stable; without it a route is free. */
    price?: string
  }
}

const gate = (price: string): preHandlerAsyncHookHandler =>
  async function requirePayment({ caller }: FastifyRequest): Promise<void> {
    if (!hasScope(caller, 'paid')) throw new PaymentRequiredError(price)
  }

/**
 * Lets only those through to routes with a `price` who have a key with the scope `paid`: others get 402. This comes after all `preHandler`s of
 * the route itself, where a route is to refuse what it has no answer to: nobody is asked to pay for that. To be called
 * before the routes are added.
 */
export function paid(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const price = route.config?.price
    if (price === undefined) return
    const requirePayment = gate(price)
    // Who has used up what is free is told the price before it costs any work.
    const tellPrice: preHandlerAsyncHookHandler = async function (request, reply) {
      if (request.isOverLimit) await requirePayment.call(this, request, reply)
    }
    route.preHandler = [tellPrice, ...[route.preHandler ?? []].flat(), requirePayment]
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
