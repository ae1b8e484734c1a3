import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TooManyRequestsError } from '../../http/errors.js'
import type { Caller } from '../auth.js'
import type { Payments } from '../payments/payments.js'
import { networkOf } from './address.js'
import type { Count, RequestCounter } from './counts.js'
import { WINDOW_SECONDS } from './request-counter.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller has used up the free requests, on a route that can be paid for: only a payment is accepted. */
    isOverLimit: boolean
  }
  interface FastifyContextConfig {
    /**
     * How many requests a valid request of this route counts as, a positive integer; 1 if omitted. More than the whole
     * limit counts as the whole limit.
     */
    cost?: (request: FastifyRequest & { query: never }) => number | Promise<number>
  }
  interface FastifyInstance {
    /**
     * Counts a request and returns the header fields that report it, none if nothing limits the caller; null if it
     * could not be counted at once, because the caller is new or close to the limit.
     */
    charge: (caller: Caller, ip: string) => Record<string, string> | null
  }
}

/** Requests per minute, 0 for no limit: of an address without a key, and of a key that is created without its own. */
export type Limits = { free: number; key: number }

/** Whose requests are counted together: a key's, the operator's, or those of an address. */
export function askerOf(caller: Caller | null, ip: string): string {
  if (caller?.tier === 'subscriber') return caller.keyId
  return caller?.tier === 'admin' ? 'admin' : networkOf(ip)
}

/** Who is counted, under which policy name, and the limit. */
type Budget = { asker: string; policy: string; limit: number }

/** The budget of an ordinary request of a caller; null if nothing limits it. */
function budgetOf(caller: Caller, ip: string, free: number): Budget | null {
  if (caller.tier === 'admin') return null
  const isKey = caller.tier === 'subscriber'
  const limit = isKey ? caller.requestsPerMinute : free
  return limit === 0 ? null : { asker: askerOf(caller, ip), policy: isKey ? 'key' : 'free', limit }
}

const secondsLeft = ({ resetMs }: Count): number => Math.max(Math.ceil(resetMs / 1000), 1)

const policyField = ({ policy, limit }: Budget): string => `"${policy}";q=${limit};w=${WINDOW_SECONDS}`
const limitField = ({ policy, limit }: Budget, count: Count): string =>
  `"${policy}";r=${Math.max(limit - count.consumed, 0)};t=${secondsLeft(count)}`
const fieldsOf = (budget: Budget, count: Count) => ({
  'ratelimit-policy': policyField(budget),
  ratelimit: limitField(budget, count),
})

const NO_FIELDS = {}

/**
 * Counts every request of a caller, by key or else by address, and refuses those above the limit with 429. The header
 * fields are those of draft-ietf-httpapi-ratelimit-headers-10. On routes with a price, callers without a key are not
 * refused here: an answer to one of our challenges is not counted, and everybody else gets the price. Call it after
 * `auth` and before the routes are added.
 */
export function limits(
  app: FastifyInstance,
  { free }: Limits,
  { count, countNow }: RequestCounter,
  payments: Pick<Payments, 'isOurs'> | null,
): void {
  /** Only an answer to one of our challenges counts as a payment: anyone can send something that looks like one. */
  function isPaying({ caller, headers: { authorization }, routeOptions: { config } }: FastifyRequest): boolean {
    if (config.price === undefined || caller.tier !== 'free' || authorization === undefined) return false
    return payments?.isOurs(authorization) ?? false
  }

  const isFree = (request: FastifyRequest): boolean => request.routeOptions.config.always === true || isPaying(request)

  /** Counts what could not be counted at once, and refuses requests above the limit. */
  async function chargeOrRefuse(request: FastifyRequest, reply: FastifyReply, pointsWithin: (limit: number) => number) {
    const budget = budgetOf(request.caller, request.ip, free)
    if (budget === null) return
    const { asker, policy, limit } = budget
    const points = pointsWithin(limit)
    if (points === 0) return
    const counted = await count(asker, points)
    reply.headers(fieldsOf(budget, counted))
    if (counted.consumed <= limit) return
    app.metrics.rateLimited.inc({ tier: request.caller.tier })
    const isPayable = policy === 'free' && request.routeOptions.config.price !== undefined
    if (!isPayable) throw new TooManyRequestsError(limit, secondsLeft(counted))
    request.isOverLimit = true
  }

  app.decorate('charge', (caller, ip) => {
    const budget = budgetOf(caller, ip, free)
    if (budget === null) return NO_FIELDS
    const counted = countNow(budget.asker, budget.limit)
    return counted && fieldsOf(budget, counted)
  })
  app.decorateRequest('isOverLimit', false)
  app.addHook('onRequest', (request, reply, done) => {
    if (isFree(request)) return done()
    const fields = app.charge(request.caller, request.ip)
    if (fields === null) return void chargeOrRefuse(request, reply, () => 1).then(() => done(), done)
    reply.headers(fields)
    done()
  })
  app.addHook('onRoute', (route) => {
    const cost = route.config?.cost
    if (cost === undefined) return
    // The cost is known once the parameters are.
    const chargeRest = async (request: FastifyRequest, reply: FastifyReply) => {
      if (isFree(request)) return
      const points = await cost(request as FastifyRequest & { query: never })
      await chargeOrRefuse(request, reply, (limit) => Math.min(points, limit) - 1)
    }
    route.preHandler = [chargeRest, ...[route.preHandler ?? []].flat()]
  })
}
