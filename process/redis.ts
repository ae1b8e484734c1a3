import { Redis } from 'ioredis'
import { PlumblineError } from './errors.js'

/**
 * What a server answers, also from within a script, that is not the master any more or not ready to be it. It keeps its
 * connections: only a new one leads to the server that has taken over.
 */
const NOT_THE_MASTER = /\b(READONLY|MASTERDOWN|LOADING|NOREPLICAS|UNBLOCKED)\b/

/** How long a command may take, in milliseconds. */
export const REDIS_TIMEOUT_MS = 2000

/** The key that `checkRedis` writes. */
const WRITABLE_KEY = 'plumbline:writable'
/** How long that key lives, in milliseconds. */
const CHECK_MS = 1000

/** Redis is configured but does not answer, or does not take writes. */
class RedisAwayError extends PlumblineError {
  constructor(cause: unknown) {
    super(`redis does not accept writes: ${cause instanceof Error ? cause.message : cause}`, { retryable: true, cause })
  }
}

/**
 * A client of the Redis at `url`. A command fails after `timeoutMs`, or if the connection could not be made again. After a
 * failover, the first command of a connection fails and the next ones go to the new master.
 */
export const connectRedis = (url: string, timeoutMs: number): Redis =>
  new Redis(url, {
    maxRetriesPerRequest: 1,
    commandTimeout: timeoutMs,
    reconnectOnError: ({ message }) => NOT_THE_MASTER.test(message),
  })

/** Resolves if Redis accepts writes; a replica answers a ping as well. Rejects with RedisAwayError. */
export async function checkRedis(redis: Redis): Promise<void> {
  await redis.set(WRITABLE_KEY, '1', 'PX', CHECK_MS).catch((cause) => {
    throw new RedisAwayError(cause)
  })
}
