import type { AddressInfo } from 'node:net'
import { createServer, connect as dial, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { buildApp } from '../../../api/app.js'
import { redisLease } from '../../../jobs/lease/redis-lease.js'
import { connectRedis } from '../../../process/redis.js'
import { startRedis } from '../../support/redis.js'
import { test } from '../../support/services.js'

/**
 * Two real servers behind one address. On a failover, the master becomes a replica that keeps its connections; new ones
 * lead to the other server once `promote` is called.
 */
async function failoverPair() {
  const [before, after] = await Promise.all([startRedis(), startRedis()])
  let target = new URL(before.url)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = dial(Number(target.port), target.hostname)
    for (const end of [socket, upstream]) {
      sockets.add(end)
      end.on('error', () => {})
    }
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const operator = new Redis(before.url)
  onTestFinished(async () => {
    operator.disconnect()
    for (const socket of sockets) socket.destroy()
    server.close()
    await Promise.all([before.remove(), after.remove()])
  })
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    demote: () => operator.replicaof('127.0.0.1', Number(new URL(after.url).port)),
    promote: () => {
      target = new URL(after.url)
    },
  }
}

/** A client as the processes make it. */
function clientOf(url: string): Redis {
  const redis = connectRedis(url, 2000)
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}

test('after a failover of Redis, a lease is granted again over the same client', async ({ clickhouse }) => {
  const pair = await failoverPair()
  const tryLease = redisLease(clientOf(pair.url), 'failover', clickhouse, 'a', 600_000)
  const first = await tryLease()
  await pair.demote()
  await expect(first?.renew()).rejects.toThrow(/READONLY/)
  pair.promote()
  await expect.poll(() => first?.renew().catch(() => null), { timeout: 10_000 }).toBe(false)
  expect((await tryLease())?.term).toBeGreaterThan(first?.term as number)
})

test('the API is not ready while its Redis is a replica, answers all the same, and is ready after the failover', async ({
  clickhouse,
}) => {
  const pair = await failoverPair()
  const redis = clientOf(pair.url)
  const app = await buildApp({ clickhouse, redis, now: () => new Date(), logger: pino({ level: 'silent' }) })
  onTestFinished(() => app.close())
  const statusOf = async (url: string): Promise<number> => (await app.inject(url)).statusCode
  expect(await statusOf('/health/ready')).toBe(200)
  await pair.demote()
  expect(await statusOf('/health/ready')).toBe(503)
  expect(await statusOf('/api/v1/stablecoins')).toBe(200)
  pair.promote()
  await expect.poll(() => statusOf('/health/ready'), { timeout: 10_000 }).toBe(200)
})
