import type { ClickHouseClient } from '@clickhouse/client'
import type { Redis } from 'ioredis'
import { newestLease } from '../../clickhouse/jobs/leases.js'
import { claimTerm, hasNewestTerm, type TryLease } from './term.js'

const RENEW = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0`
const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

/**
 * A lease that Redis grants to one process at a time and that expires after `leaseMs`. Its fencing token is the term in
 * the database, which keeps counting even if Redis loses its data. `database` separates services that share one Redis.
 */
export const redisLease =
  (redis: Redis, database: string, clickhouse: ClickHouseClient, instance: string, leaseMs: number): TryLease =>
  async () => {
    const key = `plumbline:${database}:jobs-lease`
    if ((await redis.set(key, instance, 'PX', leaseMs, 'NX')) === null) return null
    const release = async (): Promise<void> => {
      await redis.eval(RELEASE, 1, key, instance)
    }
    try {
      const newest = await newestLease(clickhouse, { from: 0 })
      const term = await claimTerm(clickhouse, instance, newest?.term ?? 0)
      if (term !== null) {
        const renew = async (): Promise<boolean> =>
          (await redis.eval(RENEW, 1, key, instance, leaseMs)) === 1 &&
          (await hasNewestTerm(clickhouse, { term, instance }))
        return { term, renew, release }
      }
    } catch (error) {
      await release().catch(() => {})
      throw error
    }
    await release()
    return null
  }
