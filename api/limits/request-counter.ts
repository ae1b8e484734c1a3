import type { FastifyBaseLogger } from 'fastify'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'

/** Requests are counted in windows of this length, each of which begins with its first request. */
export const WINDOW_SECONDS = 60

/** What has been counted in a window that ends in `resetMs`. */
type Count = { consumed: number; resetMs: number }

/** Counts what each of many askers consumes. */
export type RequestCounter = (asker: string, points: number) => Promise<Count>

/** Redis is looked for again this long after it was away. */
const LOOK_AGAIN_MS = 1000

/** Counting refuses nothing: every asker has a limit of his own, which the counter does not know. */
const ENDLESS = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS }

const countOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Count => ({
  consumed: consumedPoints,
  resetMs: Math.max(msBeforeNext, 0),
})

/**
 * Counts in Redis, for all processes together. While Redis is away each process counts for itself, which the log says;
 * no request waits for Redis to come back. `database` tells services on one Redis apart.
 */
export function createRequestCounter(redis: Redis | null, database: string, log: FastifyBaseLogger): RequestCounter {
  const own = new RateLimiterMemory(ENDLESS)
  const countHere: RequestCounter = (asker, points) => own.consume(asker, points).then(countOf)
  if (redis === null) return countHere

  const keyPrefix = `plumbline:${database}:requests`
  const shared = new RateLimiterRedis({ ...ENDLESS, storeClient: redis, keyPrefix, rejectIfRedisNotReady: true })
  let isAway = false

  const lookAgain = (): void => {
    setTimeout(async () => {
      try {
        if (redis.status === 'end') return
        if (redis.status !== 'ready') return lookAgain()
        await redis.ping()
        isAway = false
        log.info('redis is back: requests are counted over all processes again')
      } catch {
        lookAgain()
      }
    }, LOOK_AGAIN_MS).unref()
  }

  return async (asker, points) => {
    if (isAway) return countHere(asker, points)
    try {
      return countOf(await shared.consume(asker, points))
    } catch (error) {
      if (!isAway) {
        isAway = true
        log.warn({ err: error }, 'redis is away: each process counts requests for itself')
        lookAgain()
      }
      return countHere(asker, points)
    }
  }
}
