import { finished } from 'node:stream'
import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Coverage } from '../../../clickhouse/chain/coverage.js'
import { PlumblineError } from '../../../process/errors.js'
import { InvalidKeyError, ProblemError } from '../../http/errors.js'
import { hasScope, isPayment } from '../auth.js'
import { networkOf } from '../limits/address.js'
import { PaymentRefusedError, PaymentRequiredError, TooManyPaymentsError } from './errors.js'
import type { Paid, Payments } from './payments.js'
import { type Offer, scopeOf } from './terms.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The price of a request, in whole units of any stable that payments are made in; without it a route is free. */
    price?: string
    /** How complete the answer to a request is, so that everybody knows before they pay. Rejects if there is no answer. */
    coverageOf?: (request: FastifyRequest) => Promise<Coverage>
  }
  interface FastifyRequest {
    /** How the request was paid; null if it was not. */
    paid: Paid | null
  }
}

/** The offer for a request. Its parameters are validated, so different spellings of them are the same offer. */
function offerTo({ routeOptions, params, query }: FastifyRequest, price: string): Offer {
  const { url = '', schema } = routeOptions
  const { summary = '' } = (schema ?? {}) as { summary?: string }
  return { price, scope: scopeOf(url, params, query), description: summary }
}

const hasCredential = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && isPayment(authorization) && authorization.includes(' ')

const count = ({ server, routeOptions }: FastifyRequest, outcome: string): void =>
  server.metrics.payments.inc({ route: routeOptions.url ?? '', outcome })

function outcomeOf(error: unknown): string {
  if (error instanceof PaymentRefusedError) return 'refused'
  return error instanceof TooManyPaymentsError ? 'limited' : 'undecided'
}

/**
 * The error of a refused payment together with the coverage of the answer. A request that has no answer gets the price
 * alone, because it is refused before it is charged for.
 */
async function withCoverage(request: FastifyRequest, error: unknown): Promise<unknown> {
  const { coverageOf } = request.routeOptions.config
  if (error instanceof ProblemError && error.status === 402 && coverageOf)
    error.coverage = await coverageOf(request).catch((reason: unknown) => {
      if (reason instanceof PlumblineError && reason.retryable) throw reason
      return null
    })
  return error
}

const gate = (payments: Payments | null, price: string): preHandlerAsyncHookHandler =>
  async function requirePaymentOrTell(request: FastifyRequest): Promise<void> {
    await requirePayment(payments, price, request).catch(async (error) => {
      throw await withCoverage(request, error)
    })
  }

async function requirePayment(payments: Payments | null, price: string, request: FastifyRequest): Promise<void> {
  if (hasScope(request.caller, 'paid')) return
  if (!payments) throw request.hasInvalidKey ? new InvalidKeyError() : new PaymentRequiredError(price)
  const offer = offerTo(request, price)
  if (request.hasInvalidKey) throw new InvalidKeyError(await payments.challenges(offer))
  const { authorization } = request.headers
  // A HEAD request only gets the price; accepting its payment would use the answer up.
  if (!hasCredential(authorization) || request.method === 'HEAD') {
    const demand = await payments.demand(offer)
    count(request, 'challenged')
    throw demand
  }
  request.paid = await payments.accept(offer, authorization, networkOf(request.ip)).catch((error) => {
    count(request, outcomeOf(error))
    throw error
  })
}

/**
 * Lets requests to routes with a `price` pass only with a key of scope `paid` or a payment; others get 402 with the
 * price. This runs after all `preHandler`s of the route itself, so that a route can refuse a request that has no
 * answer: nobody is asked to pay for that. Without `payments` only a key helps. Call it before the routes are added.
 */
export function paid(app: FastifyInstance, payments: Payments | null): void {
  app.decorateRequest('paid', null)
  app.addHook('onClose', async () => payments?.close())
  app.addHook('onRoute', (route) => {
    const price = route.config?.price
    if (price === undefined) return
    const requireOwnPayment = gate(payments, price)
    // A caller who has used up the free requests gets the price before any work is done, and one with an invalid key the
    // refusal; a paying caller is never over the limit.
    const sendPrice: preHandlerAsyncHookHandler = async function (request, reply) {
      if (request.isOverLimit || request.hasInvalidKey) await requireOwnPayment.call(this, request, reply)
    }
    route.preHandler = [sendPrice, ...[route.preHandler ?? []].flat(), requireOwnPayment]
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request, reply, payload) => {
        // Paid answers must not be served to others by a shared cache.
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
