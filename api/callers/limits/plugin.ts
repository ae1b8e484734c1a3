import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { TooManyRequestsError } from '../../http/errors.js'
import type { Caller } from '../auth.js'
import type { Payments } from '../payments/payments.js'
import { networkOf } from './address.js'
import type { Count, RequestCounter } from './counts.js'
import { WINDOW_SECONDS } from './request-counter.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Anybody who has used up what is free, on a route that he can pay for: only a payment goes on from here. */
    isOverLimit: boolean
  }
  interface FastifyContextConfig {
    /**
     * How many requests a valid request of this route counts as, 1 where left out; whole and at least 1. More than the
     * whole limit counts as the whole limit.
     */
    cost?: (request: { query: never }) => number
  }
  interface FastifyInstance {
    /**
     * Counts a request of an ordinary route at once and returns its header fields as they go over the wire, a line each;
     * null where that needs more than a moment, or the request has to be refused.
     */
    chargeNow: (caller: Caller, ip: string) => string | null
  }
}

/** Requests a minute: of an address without a key (0: no limit), and of a key that was made without a limit of its own. */
export type Limits = { free: number; key: number }

/** Who is counted, under which name of a policy, and how far. */
type Budget = { asker: string; policy: string; limit: number }

/** Whose budget an ordinary request of a caller is from; null where nothing limits it. */
function budgetOfCaller(caller: Caller, ip: string, free: number): Budget | null {
  if (caller.tier === 'admin') return null
  if (caller.tier === 'subscriber') return { asker: caller.keyId, policy: 'key', limit: caller.requestsPerMinute }
  return free === 0 ? null : { asker: networkOf(ip), policy: 'free', limit: free }
}

const secondsLeft = ({ resetMs }: Count): number => Math.max(Math.ceil(resetMs / 1000), 1)

const policyField = ({ policy, limit }: Budget): string => `"${policy}";q=${limit};w=${WINDOW_SECONDS}`
const limitField = ({ policy, limit }: Budget, count: Count): string =>
  `"${policy}";r=${Math.max(limit - count.consumed, 0)};t=${secondsLeft(count)}`

/**
 * Counts every request of a caller and refuses what is above his limit with 429: by key, and without one by address. The
 * header fields are those of draft-ietf-httpapi-ratelimit-headers-10. On routes with a price nobody without a key is
 * refused here: what answers a challenge of ours is not counted, and everybody else hears the price. To be called after
 * `auth` and before the routes are added.
 */
export function limits(
  app: FastifyInstance,
  { free }: Limits,
  { count, countNow }: RequestCounter,
  payments: Pick<Payments, 'isOurs'> | null,
): void {
  /** Only who was given a challenge can answer it: anything can be called a payment. */
  function isPaying({ caller, headers: { authorization }, routeOptions: { config } }: FastifyRequest): boolean {
    if (config.price === undefined || caller.tier !== 'free' || authorization === undefined) return false
    return payments?.isOurs(authorization) ?? false
  }

  function budgetOf(request: FastifyRequest): Budget | null {
    if (request.routeOptions.config.always || isPaying(request)) return null
    return budgetOfCaller(request.caller, request.ip, free)
  }

  async function charge(request: FastifyRequest, reply: FastifyReply, pointsWithin: (limit: number) => number) {
    const budget = budgetOf(request)
    if (budget === null) return
    const { asker, policy, limit } = budget
    const points = pointsWithin(limit)
    if (points === 0) return
    const counted = await count(asker, points)
    reply.header('ratelimit-policy', policyField(budget))
    reply.header('ratelimit', limitField(budget, counted))
    if (counted.consumed <= limit) return
    app.metrics.rateLimited.inc({ tier: request.caller.tier })
    const isPayable = policy === 'free' && request.routeOptions.config.price !== undefined
    if (!isPayable) throw new TooManyRequestsError(limit, secondsLeft(counted))
    request.isOverLimit = true
  }

  app.decorate('chargeNow', (caller, ip) => {
    const budget = budgetOfCaller(caller, ip, free)
    if (budget === null) return ''
    const counted = countNow(budget.asker, budget.limit)
    if (counted === null) return null
    return `ratelimit-policy: ${policyField(budget)}\r\nratelimit: ${limitField(budget, counted)}\r\n`
  })
  app.decorateRequest('isOverLimit', false)
  app.addHook('onRequest', (request, reply) => charge(request, reply, () => 1))
  app.addHook('onRoute', (route) => {
    const cost = route.config?.cost
    if (cost === undefined) return
    // What it costs is known once its parameters are.
    const chargeRest = (request: FastifyRequest, reply: FastifyReply) =>
      charge(request, reply, (limit) => Math.min(cost(request as unknown as { query: never }), limit) - 1)
    route.preHandler = [chargeRest, ...[route.preHandler ?? []].flat()]
  })
}
