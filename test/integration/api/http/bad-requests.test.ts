import { type AddressInfo, connect as connectSocket } from 'node:net'
import type { HTTPMethods } from 'fastify'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { buildApp } from '../../../../api/app.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { ADMIN_KEY, test } from '../../../support/app.js'
import { sendRaw } from '../../../support/raw-socket.js'
import { addFacts, stableAddress, stablecoin } from '../../../support/rows.js'

const STABLE = stableAddress(1)
const PEG = `/api/v1/stablecoins/${STABLE}/peg`

/** A cursor as returned in an answer. */
const cursor = (key: unknown): string => Buffer.from(JSON.stringify(key)).toString('base64url')

type App = Awaited<ReturnType<typeof buildApp>>

async function listen(app: App): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

describe('an invalid parameter', () => {
  test.for([
    ['/api/v1/stablecoins/0x123', 400, 'address'],
    ['/api/v1/stablecoins/pathUSD', 400, 'address'],
    [`/api/v1/stablecoins/${STABLE.slice(2)}/peg`, 400, 'address'],
    [`/api/v1/stablecoins/${STABLE}0/peg`, 400, 'address'],
    [`/api/v1/stablecoins/${'a'.repeat(1500)}/peg`, 400, 'address'],
    [`/api/v1/stablecoins/${encodeURIComponent("0x' OR 1=1 --")}/peg`, 400, 'address'],
    [`/api/v1/stablecoins/${stableAddress(2)}`, 404, 'address'],
    [`/api/v1/stablecoins/${stableAddress(2)}/peg`, 404, 'address'],
    [`/api/v1/stablecoins/${stableAddress(2)}/peg?as_of=1h`, 404, 'address'],
    ['/api/v1/stablecoins/flows?hours=5', 400, 'hours'],
    ['/api/v1/stablecoins/flows?hours=', 400, 'hours'],
    ['/api/v1/stablecoins/flows?hours=1.0', 400, 'hours'],
    ['/api/v1/stablecoins/flows?hours=1&hours=6', 400, 'hours'],
    ['/api/v1/stablecoins/flows?hours[]=1', 400, 'hours[]'],
    [`${PEG}?as_of=tomorrow`, 400, 'as_of'],
    [`${PEG}?as_of=`, 400, 'as_of'],
    [`${PEG}?as_of=2999-01-01`, 400, 'as_of'],
    [`${PEG}?as_of=1h&as_of=2h`, 400, 'as_of'],
    [`${PEG}?as_of=1h&as_of=1h`, 400, 'as_of'],
    [`${PEG}?as_of=%zz`, 400, 'as_of'],
    [`${PEG}?as_of=%00`, 400, 'as_of'],
    [`${PEG}?asof=1h`, 400, 'asof'],
    [`${PEG}?as_of=1h&verbose=1`, 400, 'verbose'],
    [`${PEG}?__proto__=1`, 400, '__proto__'],
    [`/api/v1/stablecoins/${stableAddress(2)}/rewards?as_of=1h`, 404, 'address'],
    [`/api/v1/stablecoins/${STABLE}/rewards?as_of=1970-01-02`, 404, 'as_of'],
    [`/api/v1/stablecoins/${STABLE}/rewards?as_of=2999-01-01`, 400, 'as_of'],
    [`/api/v1/stablecoins/${STABLE}/rewards?limit=5`, 400, 'limit'],
    ['/api/v1/fee-economics/overview?as_of=1970-01-02', 404, 'as_of'],
    ['/api/v1/fee-economics/overview?as_of=soon', 400, 'as_of'],
    ['/api/v1/fee-economics/overview?stable=1', 400, 'stable'],
    [`/api/v1/stablecoins/${STABLE}/roles?as_of=1970-01-02`, 404, 'as_of'],
    [`/api/v1/stablecoins/${stableAddress(2)}/roles`, 404, 'address'],
    [`/api/v1/stablecoins/${STABLE}/roles?role=ISSUER_ROLE`, 400, 'role'],
    [`/api/v1/stablecoins/${STABLE}/peg/series?from=1h&cursor=${cursor(2 ** 32)}`, 400, 'cursor'],
    [`/api/v1/stablecoins/flows/export?from=1h&cursor=${cursor([0, 1, 2 ** 32])}`, 400, 'cursor'],
    ['/api/v1/stablecoins?hours=5', 400, 'hours'],
    ['/api/v1/stablecoins?as_of=1970-01-02', 404, 'as_of'],
    [`/api/v1/stablecoins/${STABLE}?as_of=1h`, 404, 'as_of'],
    [`/api/v1/stablecoins/${STABLE}?verbose=1`, 400, 'verbose'],
  ] as const)('%s is %i, naming %s', async ([url, status, parameter], { app, clickhouse }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    const response = await app.inject(url)
    expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(response.json()).toMatchObject({ status, parameter, title: expect.any(String), instance: url.split('?')[0] })
    expect(response.json().type).toMatch(/^urn:plumbline:problem:/)
    expect(response.json().errors).toContainEqual({ parameter, detail: expect.any(String) })
    expect(response.statusCode).toBe(status)
  })

  test('all invalid parameters are named at once', async ({ app }) => {
    const { errors } = (await app.inject('/api/v1/stablecoins/flows?hours=5&window=1&from=2')).json()
    expect(errors.map(({ parameter }: { parameter: string }) => parameter).sort()).toEqual(['from', 'hours', 'window'])
  })
})

describe('a request that no route answers', () => {
  test('an unknown path is 404', async ({ app }) => {
    for (const url of ['/nope', '/api/v1', `${PEG}/more`, '/api/v2/stablecoins', '/%2e%2e/etc/passwd']) {
      const response = await app.inject(url)
      expect([url, response.json()]).toMatchObject([url, { status: 404, type: 'urn:plumbline:problem:unknown-route' }])
    }
  })

  test.for(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s is 405 and names the allowed methods',
    async (method, { app }) => {
      for (const url of [
        '/api/v1/stablecoins',
        PEG,
        '/api/v1/stablecoins/flows',
        '/health/live',
        '/openapi.json',
        '/',
      ]) {
        const response = await app.inject({ method, url, payload: '<xml/>', headers: { 'content-type': 'text/xml' } })
        expect(response.json()).toMatchObject({ status: 405, title: 'Method Not Allowed' })
        expect(response.headers.allow).toBe('GET, HEAD, OPTIONS')
      }
      expect((await app.inject({ method, url: '/nope' })).statusCode).toBe(404)
    },
  )

  test('a malformed encoding of the path is 400', async ({ app }) => {
    const response = await app.inject('/api/v1/stablecoins/%zz')
    expect(response.json()).toMatchObject({ status: 400, type: 'urn:plumbline:problem:bad-url' })
    expect(response.headers['access-control-allow-origin']).toBe('*')
  })

  test('an oversized URL is 414, known or not', async ({ app }) => {
    for (const url of [
      `${PEG}?as_of=${'1'.repeat(3000)}`,
      `/${'x'.repeat(3000)}`,
      `/api/v1/stablecoins/${'y'.repeat(3000)}/peg`,
    ]) {
      const response = await app.inject(url)
      expect(response.json()).toMatchObject({ status: 414, type: 'urn:plumbline:problem:url-too-long' })
    }
  })

  test.for([
    ['a URL beyond what Node parses', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['headers beyond what Node parses', `GET / HTTP/1.1\r\nHost: a\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['what is no HTTP', 'HELLO\r\n\r\n', 400],
    ['two lengths', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ['a method from elsewhere', 'BREW /api/v1/stablecoins HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ] as const)('%s is a problem document on the wire', async ([, text, status], { app }) => {
    const answer = await sendRaw(await listen(app), text)
    const [head, body] = answer.split('\r\n\r\n') as [string, string]
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toContain('application/problem+json')
    expect(JSON.parse(body)).toMatchObject({ status })
  })

  test('methods that Node parses but the service does not have are 405 on the wire', async ({ app }) => {
    const port = await listen(app)
    for (const method of ['PROPFIND', 'TRACE', 'PURGE']) {
      const answer = await sendRaw(
        port,
        `${method} /api/v1/stablecoins HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      )
      expect(answer).toMatch(/^HTTP\/1.1 (405|404) /)
      expect(answer).toContain('application/problem+json')
    }
  })
})

test('an unknown query parameter is refused on every route, with a body or without', async ({ app }) => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const webhook = '/api/admin/webhooks/wh_1'
  const requests: [HTTPMethods, string, object?][] = [
    ['GET', '/'],
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
    ['GET', '/metrics'],
    ['GET', '/openapi.json'],
    ['HEAD', '/api/v1/stablecoins'],
    ['GET', '/api/v1/status'],
    ['POST', '/api/admin/keys', { label: 'a' }],
    ['DELETE', '/api/admin/keys/key_1'],
    ['POST', '/api/admin/webhooks', { url: 'https://example.com/', event_types: ['system.health_drift'] }],
    ['PATCH', webhook, { label: 'a' }],
    ['DELETE', webhook],
    ['POST', `${webhook}/disable`],
    ['POST', `${webhook}/enable`],
    ['POST', `${webhook}/rotate-secret`],
    ['POST', `${webhook}/test`],
    ['POST', `${webhook}/replay`, { since: '1h' }],
    ['POST', `${webhook}/deliveries/1/replay`],
  ]
  for (const [method, url, payload] of requests) {
    const response = await app.inject({
      method: method as 'POST',
      url: `${url}?surprise=1`,
      headers,
      ...(payload && { payload }),
    })
    expect([url, response.statusCode]).toEqual([url, 400])
    if (method !== 'HEAD') expect(response.json()).toMatchObject({ parameter: 'surprise' })
  }
})

describe('standard HTTP', () => {
  test('a body on GET is ignored, whatever it claims to be', async ({ app }) => {
    const port = await listen(app)
    const body = 'not json {'
    const answer = await sendRaw(
      port,
      `GET /health/live HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  })

  test('a trailing slash changes nothing', async ({ app }) => {
    expect((await app.inject('/api/v1/stablecoins/')).json()).toEqual({ stablecoins: [], next_cursor: null })
    expect((await app.inject({ method: 'POST', url: '/api/v1/stablecoins/' })).statusCode).toBe(405)
  })

  test('HEAD answers as GET does, without the body', async ({ app, clickhouse }) => {
    await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
    for (const url of ['/api/v1/stablecoins', PEG, '/api/v1/stablecoins/flows', '/health/ready', '/openapi.json']) {
      const head = await app.inject({ method: 'HEAD', url })
      expect([url, head.statusCode, head.body]).toEqual([url, 200, ''])
    }
    expect((await app.inject({ method: 'HEAD', url: `${PEG}?as_of=tomorrow` })).statusCode).toBe(400)
  })

  test('every origin may read, errors included, and preflights succeed', async ({ app }) => {
    for (const url of ['/api/v1/stablecoins', '/nope', '/api/v1/stablecoins/flows?hours=5']) {
      const response = await app.inject({ url, headers: { origin: 'https://example.org' } })
      expect(response.headers['access-control-allow-origin']).toBe('*')
      expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: PEG,
      headers: { origin: 'https://example.org', 'access-control-request-method': 'GET' },
    })
    expect(preflight.statusCode).toBe(204)
    expect(preflight.headers['access-control-allow-methods']).toContain('GET')
    expect((await app.inject({ method: 'OPTIONS', url: PEG })).statusCode).toBe(204)
  })

  test('the index leads to routes that exist', async ({ app }) => {
    const { links } = (await app.inject('/')).json()
    for (const url of Object.values<string>(links)) {
      // One of them is a stream, which has no end.
      const response = await app.inject({ url, payloadAsStream: true })
      expect([url, response.statusCode]).toEqual([url, 200])
      response.stream().destroy()
    }
  })
})

describe('while ClickHouse is unreachable', () => {
  const away = test.extend<{ cutOff: App; log: string[] }>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    log: async ({}, use) => use([]),
    cutOff: async ({ log }, use) => {
      const nowhere = {
        CLICKHOUSE_URL: 'http://127.0.0.1:9',
        CLICKHOUSE_USER: 'u',
        CLICKHOUSE_PASSWORD: 'hush-hush',
        CLICKHOUSE_DATABASE: 'd',
      }
      const clickhouse = connect(nowhere, { application: 'test' })
      const logger = pino({ level: 'debug' }, { write: (line) => log.push(line) })
      const app = await buildApp({ clickhouse, now: () => new Date(), logger })
      await use(app)
      await app.close()
      await clickhouse.close()
    },
  })

  away('every data route is 503 with Retry-After, and reveals no internals', async ({ cutOff, log }) => {
    for (const url of [
      '/api/v1/stablecoins',
      `/api/v1/stablecoins/${STABLE}`,
      PEG,
      `${PEG}?as_of=1h`,
      `/api/v1/stablecoins/${STABLE}/rewards`,
      `/api/v1/stablecoins/${STABLE}/roles`,
      '/api/v1/fee-economics/overview',
      `/api/v1/stablecoins/${STABLE}/analysis`,
      '/api/v1/stablecoins/flows',
      '/health/ready',
    ]) {
      const response = await cutOff.inject(url)
      expect(response.json()).toMatchObject({ status: 503, type: 'urn:plumbline:problem:unavailable' })
      expect(response.headers['retry-after']).toBe('5')
      expect(response.body).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|ClickHouse/)
    }
    expect(log.join('')).toContain('ECONNREFUSED')
    expect(log.join('')).not.toContain('hush-hush')
  })

  away('the process is still alive, and bad parameters are still reported', async ({ cutOff }) => {
    expect((await cutOff.inject('/health/live')).statusCode).toBe(200)
    expect((await cutOff.inject('/openapi.json')).statusCode).toBe(200)
    expect((await cutOff.inject(`${PEG}?as_of=tomorrow`)).statusCode).toBe(400)
    expect((await cutOff.inject('/api/v1/stablecoins/flows?hours=5')).statusCode).toBe(400)
  })
})

test('an internal failure is 500 without details, which are in the log', async ({ clickhouse, clock }) => {
  const log: string[] = []
  const logger = pino({ level: 'info' }, { write: (line) => log.push(line) })
  const app = await buildApp({ clickhouse, now: () => clock.now, logger })
  await clickhouse.command({ query: 'DROP TABLE flows' })
  const response = await app.inject('/api/v1/stablecoins/flows')
  expect(response.json()).toMatchObject({ status: 500, type: 'urn:plumbline:problem:internal' })
  expect(response.body).not.toMatch(/Unknown table|SELECT|stack/)
  expect(log.join('')).toContain('Unknown table')
  await app.close()
})

test('a query ends when its client disconnects', async ({ app, clickhouse, clock }) => {
  await clickhouse.command({ query: 'DROP TABLE flows' })
  // Flows of the window's last second are read from the table of flows itself.
  const newest = Math.floor(clock.now.getTime() / 1000)
  await clickhouse.command({
    query: `
      CREATE VIEW flows AS
      SELECT 'swap' AS kind, '' AS from_token, '' AS to_token, toNullable(toUInt128(sleepEachRow(0.2))) AS usd_micros,
             toUInt128(0) AS amount_in_raw, toUInt128(0) AS amount_out_raw, '' AS tx_hash, toDateTime(${newest}, 'UTC') AS block_time
      FROM numbers(300) SETTINGS max_block_size = 1`,
  })
  const running = async () => {
    const query =
      "SELECT count() AS n FROM system.processes WHERE Settings['log_comment'] = 'flow_edges_of_flows' AND current_database = currentDatabase()"
    const [row] = await (await clickhouse.query({ query, format: 'JSONEachRow' })).json<{ n: string }>()
    return Number(row?.n)
  }
  const socket = connectSocket(await listen(app), '127.0.0.1')
  socket.write('GET /api/v1/stablecoins/flows HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(running, { timeout: 60_000 }).toBe(1)
  socket.destroy()
  await expect.poll(running, { timeout: 60_000 }).toBe(0)
})

test('a database without a schema is not ready', async ({ emptyClickhouseEnv }) => {
  const env = { ...emptyClickhouseEnv, CLICKHOUSE_DATABASE: 'default' }
  const clickhouse = connect(env, { application: 'test' })
  const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
  expect((await app.inject('/health/ready')).json()).toMatchObject({ status: 503 })
  await app.close()
  await clickhouse.close()
})

test('with Redis configured but unreachable it is not ready, but still serves', async ({ clickhouse, clock }) => {
  const redis = new Redis('redis://127.0.0.1:9', { maxRetriesPerRequest: 0 })
  redis.on('error', () => {})
  const app = await buildApp({ clickhouse, redis, now: () => clock.now, logger: pino({ level: 'silent' }) })
  expect((await app.inject('/health/ready')).statusCode).toBe(503)
  expect((await app.inject('/api/v1/stablecoins')).statusCode).toBe(200)
  await app.close()
  redis.disconnect()
})
