import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import { checkRedis } from '../../../process/redis.js'
import { type Count, createDeferredCounts, createLocalCounts, type RequestCounter } from './counts.js'

/** Requests are counted in windows of this length, each of which begins with its first request. */
export const WINDOW_SECONDS = 60

/** Time after which an unreachable Redis is tried again. */
const LOOK_AGAIN_MS = 1000

/** The limiter itself lets everything through. */
const ENDLESS = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS }

const countOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Count => ({
  consumed: consumedPoints,
  resetMs: Math.max(msBeforeNext, 0),
})

/**
 * Counts in Redis, for all processes together. While Redis is unreachable, each process counts by itself, which is
 * logged; no request waits for Redis to come back. `database` distinguishes services that share a Redis.
 */
export function createRequestCounter(redis: Redis | null, database: string, log: FastifyBaseLogger): RequestCounter {
  const local = createLocalCounts(WINDOW_SECONDS * 1000)
  const countLocally = (asker: string, limit: number) => (local.consumed(asker) < limit ? local.count(asker, 1) : null)
  if (redis === null) return { count: async (asker, points) => local.count(asker, points), countNow: countLocally }

  const keyPrefix = `plumbline:${database}:requests`
  const shared = new RateLimiterRedis({ ...ENDLESS, storeClient: redis, keyPrefix, rejectIfRedisNotReady: true })
  let isAway = false

  const lookAgain = (): void => {
    setTimeout(async () => {
      try {
        if (redis.status === 'end') return
        if (redis.status !== 'ready') return lookAgain()
        await checkRedis(redis)
        isAway = false
        log.info('redis is back: requests are counted over all processes again')
      } catch {
        lookAgain()
      }
    }, LOOK_AGAIN_MS).unref()
  }

  const consume = async (asker: string, points: number): Promise<Count> => {
    if (isAway) return local.count(asker, points)
    try {
      return countOf(await shared.consume(asker, points))
    } catch (error) {
      if (!isAway) {
        isAway = true
        log.warn({ err: error }, 'redis is unreachable: each process counts requests by itself')
        lookAgain()
      }
      return local.count(asker, points)
    }
  }

  const deferred = createDeferredCounts(consume)
  return {
    count: deferred.count,
    countNow: (asker, limit) => (isAway ? countLocally(asker, limit) : deferred.countNow(asker, limit)),
  }
}
