import { finished } from 'node:stream'
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { hasScope } from '../auth.js'
import { PaymentRefusedError, PaymentRequiredError } from './errors.js'
import type { Paid, Payments } from './payments.js'
import { type Offer, scopeOf } from './terms.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What one request costs, in whole units of the reference stable; without it a route is free. */
    price?: string
  }
  interface FastifyRequest {
    /** How the request was paid; null where it was not. */
    paid: Paid | null
  }
}

/** What is sold to a request. Its parameters are validated: written in another way, they are the same. */
function offerTo({ routeOptions, params, query }: FastifyRequest, price: string): Offer {
  const { url = '', schema } = routeOptions
  const { summary = '' } = (schema ?? {}) as { summary?: string }
  return { price, scope: scopeOf(url, params, query), description: summary }
}

const isPayment = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && /^Payment /i.test(authorization)

const count = ({ server, routeOptions }: FastifyRequest, outcome: string): void =>
  server.metrics.payments.inc({ route: routeOptions.url ?? '', outcome })

const gate = (payments: Payments | null, price: string): preHandlerAsyncHookHandler =>
  async function requirePayment(request: FastifyRequest): Promise<void> {
    if (hasScope(request.caller, 'paid')) return
    if (!payments) throw new PaymentRequiredError(price)
    const offer = offerTo(request, price)
    const { authorization } = request.headers
    // Who asks for the headers only is told the price; to be paid for them would use the answer up.
    if (!isPayment(authorization) || request.method === 'HEAD') {
      const demand = await payments.demand(offer)
      count(request, 'challenged')
      throw demand
    }
    request.paid = await payments.accept(offer, authorization).catch((error) => {
      count(request, error instanceof PaymentRefusedError ? 'refused' : 'undecided')
      throw error
    })
  }

/**
 * Lets only those through to routes with a `price` who have a key with the scope `paid`, or pay: others get 402 with what to pay. This comes
 * after all `preHandler`s of the route itself, where a route is to refuse what it has no answer to: nobody is asked to
 * pay for that. Without `payments` only a key helps. To be called before the routes are added.
 */
export function paid(app: FastifyInstance, payments: Payments | null): void {
  app.decorateRequest('paid', null)
  app.addHook('onClose', async () => payments?.close())
  app.addHook('onRoute', (route) => {
    const price = route.config?.price
    if (price === undefined) return
    const requirePayment = gate(payments, price)
    // Who has used up what is free is told the price before it costs any work; who comes to pay is never over the limit.
    const tellPrice: preHandlerAsyncHookHandler = async function (request, reply) {
      if (request.isOverLimit) await requirePayment.call(this, request, reply)
    }
    route.preHandler = [tellPrice, ...[route.preHandler ?? []].flat(), requirePayment]
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request, reply, payload) => {
        // Answers are for those who paid, and not for the next who asks a shared cache.
        if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'private, no-store')
        const { paid } = request
        if (!paid) return payload
        const isAnswer = reply.statusCode < 300
        if (isAnswer) reply.header('payment-receipt', paid.receipt)
        finished(reply.raw, (error) => {
          const isAnswered = isAnswer && !error
          count(request, isAnswered ? 'answered' : 'unanswered')
          paid.done(isAnswered)
        })
        return payload
      },
    ]
  })
}
