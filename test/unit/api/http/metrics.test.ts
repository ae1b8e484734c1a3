import { once } from 'node:events'
import { connect } from 'node:net'
import type { ClickHouseClient } from '@clickhouse/client'
import { type FastifyBaseLogger, fastify } from 'fastify'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InvalidKeyError, UrlTooLongError } from '../../../../api/http/errors.js'
import { countRequests, createMetrics, metricsRoute, showMetrics } from '../../../../api/http/metrics.js'
import { sendProblem } from '../../../../api/http/problem.js'
import { stateMetrics } from '../../../../api/service/state-metrics.js'
import type { MetricsAccess } from '../../../../process/metrics-access.js'

const TOKEN = 'a-token-of-the-tests-that-is-long-enough'

async function appWith(access: MetricsAccess, readMore = async (): Promise<string> => '') {
  const loggerInstance: FastifyBaseLogger = pino({ level: 'silent' })
  const app = fastify({ loggerInstance })
  app.setErrorHandler(sendProblem)
  app.decorate('metrics', createMetrics())
  app.decorate('clickhouse', {} as ClickHouseClient)
  app.decorate('records', app.clickhouse)
  app.decorate('refuseKey', async () => new InvalidKeyError())
  app.decorate('cacheCounts', { hit: 3, miss: 2, stale: 0 })
  countRequests(app)
  showMetrics(app, access, readMore)
  app.addHook('onRequest', async ({ query, headers }) => {
    if ((query as { refused?: string }).refused || headers.range !== undefined) throw new UrlTooLongError()
  })
  await app.register(metricsRoute)
  app.get('/things/:name', async () => ({ ok: true }))
  app.get('/endless', () => new Promise(() => {}))
  onTestFinished(() => app.close())
  return app
}

type App = Awaited<ReturnType<typeof appWith>>

/** The value of a metric's line; undefined if there is none. */
const value = async (app: App, line: string): Promise<number | undefined> => {
  const { payload } = await app.inject('/metrics')
  const found = payload.split('\n').find((one) => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

const count = (labels: string): string => `plumbline_http_request_duration_seconds_count{${labels}}`

describe('requests are counted by the pattern of their route', () => {
  test('whatever its name, query and answer', async () => {
    const app = await appWith('any')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const path of ['/things/a', '/things/b?c=1', '/things/c?refused=1', '/secret-1', '/secret-2'])
      await fetch(`${url}${path}`).then((response) => response.text())
    await expect.poll(() => value(app, count('method="any",route="none",status="404"')), { timeout: 30_000 }).toBe(2)
    expect(await value(app, count('method="GET",route="/things/:name",status="200"'))).toBe(2)
    expect(await value(app, count('method="GET",route="/things/:name",status="414"'))).toBe(1)
    const { payload } = await app.inject('/metrics')
    expect(payload).not.toMatch(/secret|things\/[abc]/)
  })

  test('and an aborted request as such, no longer as running', async () => {
    const app = await appWith('any')
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const socket = connect(Number(port), '127.0.0.1')
    socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n')
    // The request for the metrics is running too.
    await expect.poll(() => value(app, 'plumbline_http_requests_running'), { timeout: 30_000 }).toBe(2)
    socket.destroy()
    await once(socket, 'close')
    await expect
      .poll(() => value(app, count('method="GET",route="/endless",status="499"')), { timeout: 30_000 })
      .toBe(1)
    expect(await value(app, 'plumbline_http_requests_running')).toBe(1)
  })
})

test('the results of cache lookups are counted', async () => {
  const app = await appWith('any')
  for (const _ of [1, 2]) {
    expect(await value(app, 'plumbline_cache_lookups_total{result="hit"}')).toBe(3)
    expect(await value(app, 'plumbline_cache_lookups_total{result="miss"}')).toBe(2)
  }
})

describe('the metrics can be read by', () => {
  const read = async (access: MetricsAccess, headers: Record<string, string> = {}, remoteAddress = '203.0.113.7') =>
    (await (await appWith(access)).inject({ url: '/metrics', headers, remoteAddress })).statusCode

  test('this machine, but not through a proxy on it', async () => {
    for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
      expect(await read('loopback', {}, address), address).toBe(200)
    for (const address of ['203.0.113.7', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', 'fe80::1'])
      expect(await read('loopback', {}, address), address).toBe(404)
    for (const name of ['x-forwarded-for', 'Forwarded', 'via', 'x-real-ip'])
      expect(await read('loopback', { [name]: '127.0.0.1' }, '127.0.0.1'), name).toBe(404)
  })

  test('holders of the token only, from any address', async () => {
    expect(await read({ token: TOKEN }, { authorization: `Bearer ${TOKEN}` })).toBe(200)
    for (const authorization of ['', TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`])
      expect(await read({ token: TOKEN }, { authorization }, '127.0.0.1'), authorization).toBe(401)
    expect(await read({ token: TOKEN }, {}, '127.0.0.1')).toBe(401)
  })

  test('anybody, if configured', async () => {
    expect(await read('any')).toBe(200)
  })

  test('callers whose other requests are refused', async () => {
    const app = await appWith('any')
    const headers = { range: 'bytes=0-1' }
    expect((await app.inject({ url: '/things/a', headers })).statusCode).toBe(414)
    expect((await app.inject({ url: '/metrics', headers })).statusCode).toBe(200)
  })
})

test('why the state cannot be read is shown: a full disk, a replica that accepts no rows, a Keeper that is away', async () => {
  const replicas = { most_delay_seconds: 7, queued: 3, readonly_tables: 56, keeper_answers: false, away: null }
  const disks = [{ disk: 'default', free_bytes: 0, total_bytes: 1000 }]
  const metrics = await stateMetrics(null, { disks, parts: undefined, replicas })
  for (const line of [
    'plumbline_clickhouse_up 0',
    'plumbline_storage_readable{what="parts"} 0',
    'plumbline_disk_free_bytes{disk="default"} 0',
    'plumbline_replica_delay_seconds 7',
    'plumbline_replica_readonly_tables 56',
    'plumbline_replica_keeper_up 0',
  ])
    expect(metrics.split('\n')).toContain(line)
  // Without the Keeper, nobody knows which others there are.
  expect(metrics).not.toContain('plumbline_replicas_away')
})
