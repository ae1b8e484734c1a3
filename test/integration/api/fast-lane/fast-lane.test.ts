import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { SUBSCRIPTION_KEY } from '../../../support/app.js'
import { cachedApp } from '../../../support/cached-app.js'
import { addApiKey } from '../../../support/keys.js'
import { addBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

const LIST = '/api/v1/stablecoins'
const PEG = `${LIST}/${stableAddress(1)}/peg`
const SECONDS_AGO = 600
const AS_OF = `${PEG}?as_of=${Math.floor(Date.now() / 1000) - SECONDS_AGO}`
const PATHS = [LIST, PEG, AS_OF, `${LIST}/flows`, `${LIST}/flows?hours=6`, '/api/v1/fee-economics/overview']

/** The clock is fixed, so nothing expires, however busy the machine is. */
const FROZEN = { nowMs: () => 0 }

/** The fields of every answer, from either path. */
const OF_ONE_REQUEST = ['x-request-id', 'ratelimit', 'date', 'keep-alive', 'connection']

type Clickhouse = Parameters<typeof cachedApp>[0]
type Headers = Record<string, string>
type Got = { status: number | undefined; headers: Record<string, unknown>; body: string }

const common = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_REQUEST.includes(name)))

async function setup(clickhouse: Clickhouse, options: Parameters<typeof cachedApp>[1] = {}) {
  const at = Math.floor(Date.now() / 1000)
  await addBlocks(clickhouse, [at - 7200, at - 60, at - 5])
  await addFacts(clickhouse, {
    stablecoins: Array.from({ length: 20 }, (_, i) => stablecoin(i + 1, { block_time: at - 7200 })),
    samples: pegSamples(stableAddress(1), [
      { at: at - 1200, price: 999_900 },
      { at: at - 5, price: 999_990 },
    ]),
    flows: [flow(1, 2, at - 600)],
  })
  const app = await cachedApp(clickhouse, { ...FROZEN, ...options })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  /** By Fastify alone. */
  const injected = async (url: string, headers: Headers = {}): Promise<Got> => {
    const { statusCode: status, headers: got, rawPayload } = await app.inject({ url, headers })
    return { status, headers: common(got), body: rawPayload.toString('latin1') }
  }
  const asked = (
    url: string,
    headers: Headers = {},
    method = 'GET',
  ): Promise<Got & { all: IncomingMessage['headers'] }> =>
    new Promise((resolve, reject) => {
      get(`${base}${url}`, { headers, method }, (response) => {
        response.setEncoding('latin1')
        let body = ''
        response.on('data', (text) => {
          body += text
        })
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: common(response.headers), all: response.headers, body }),
        )
      }).on('error', reject)
    })
  /** How many answers the fast lane has sent. */
  const given = () => app.fastLane.answered
  return { app, injected, asked, given }
}

test('an answer of the fast lane equals that of Fastify', async ({ clickhouse }) => {
  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
  const { injected, asked, given } = await setup(clickhouse)
  for (const path of PATHS) {
    for (const coding of ['identity', 'br', 'gzip', 'zstd']) {
      const first = await injected(path, { 'accept-encoding': coding })
      const etag = `${first.headers.etag}`
      for (const extra of [
        {},
        { 'if-none-match': etag },
        { 'if-none-match': `W/${etag}` },
        { 'if-none-match': '"another"' },
        { authorization: `Bearer ${SUBSCRIPTION_KEY}` },
        { origin: 'https://example.com' },
      ] as Headers[]) {
        const headers = { 'accept-encoding': coding, ...extra }
        const theirs = await injected(path, headers)
        const what = `${path} ${JSON.stringify(headers)}`
        const before = given()
        let ours = await asked(path, headers)
        // If the machine stalls for seconds, keys are read again in between.
        for (let i = 0; i < 5 && given() === before; i++) ours = await asked(path, headers)
        expect(given(), what).toBe(before + 1)
        expect([what, ours.status, ours.body]).toEqual([what, theirs.status, theirs.body])
        expect(ours.headers, what).toEqual(theirs.headers)
        expect(ours.all['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      }
    }
  }
})

/** Heads and bodies of answers, one after the other on a connection. */
function answersIn(wire: string): { head: string[]; body: string }[] {
  const answers = []
  for (let rest = wire; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const head = rest.slice(0, end).split('\r\n')
    const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1] ?? 0)
    answers.push({ head, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

test('on the wire it looks as written by Node, even among others on one connection', async ({ clickhouse }) => {
  const { app, injected, given } = await setup(clickhouse)
  const { port } = new URL(app.listeningOrigin)
  const overWire = async (requests: string[]) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(requests.join(''))
    return answersIn(await text(socket.setEncoding('latin1')))
  }
  const request = (path: string, ...fields: string[]) =>
    [`GET ${path} HTTP/1.1`, 'host: plumbline', ...fields, '', ''].join('\r\n')
  const traced = 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const { etag } = (await injected(PEG)).headers
  await injected(PEG)
  await injected(PEG, { 'if-none-match': `${etag}` })
  await injected(PEG, { 'accept-encoding': 'identity' })
  const before = given()
  const answers = await overWire([
    // Not cached yet: the requests behind it have to wait.
    request(LIST, traced),
    request(PEG),
    request(PEG, traced),
    request(PEG, 'connection: Keep-Alive'),
    request(PEG, `if-none-match: ${etag}`),
    request(PEG, `if-none-match: ${etag}`, traced),
    request(PEG, 'connection: close'),
  ])
  expect(given()).toBe(before + 3)
  expect(answers.map(({ head }) => head[0]?.slice(9, 12))).toEqual(['200', '200', '200', '200', '304', '304', '200'])
  const [, fast, slow, again, fast304, slow304, last] = answers
  // Each field is there once, with the other path's value unless it belongs to a single request.
  const fields = (answer: (typeof answers)[number] | undefined) =>
    Object.fromEntries(
      (answer?.head.slice(1) ?? [])
        .filter((line) => !line.startsWith('traceresponse'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
        .map(([name = '', value]) => [name, /^(x-request-id|ratelimit|date)$/i.test(name) ? typeof value : value]),
    )
  for (const [ours, theirs] of [
    [fast, slow],
    [again, slow],
    [fast304, slow304],
  ]) {
    expect(fields(ours)).toEqual(fields(theirs))
    expect(ours?.body).toBe(theirs?.body)
    const date = ours?.head.find((line) => line.startsWith('Date: '))?.slice(6) ?? ''
    expect(new Date(date).toUTCString()).toBe(date)
    expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60_000)
  }
  expect(fields(fast)['Keep-Alive']).toBe('timeout=72')
  expect(fields(last).Connection).toBe('close')
  expect(last?.body).toBe(slow?.body)
  // An HTTP/1.0 client must ask for a connection to stay open.
  const [old] = await overWire([`GET ${PEG} HTTP/1.0\r\nhost: plumbline\r\n\r\n`])
  expect([fields(old).Connection, old?.body]).toEqual(['close', slow?.body])
})

test('a 304 has the tag of the coding that its client has, whatever was requested before', async ({ clickhouse }) => {
  const { injected, asked, given } = await setup(clickhouse)
  const { etag } = (await injected(PEG)).headers
  const ofAnother = `${etag}`.replace(/"$/, '-br"')
  expect((await injected(PEG, { 'if-none-match': ofAnother })).headers.etag).toBe(ofAnother)
  const before = given()
  for (const _ of [1, 2, 3]) {
    const { status, headers } = await asked(PEG, { 'if-none-match': `${etag}` })
    expect([status, headers.etag]).toEqual([304, etag])
  }
  expect(given()).toBeGreaterThan(before)
})

test('unusual requests are left to Fastify', async ({ clickhouse }) => {
  const { asked, injected, given } = await setup(clickhouse)
  await injected(PEG)
  await injected(PEG)
  const before = given()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  expect((await asked(PEG, { traceparent })).all.traceresponse).toContain('0af7651916cd43dd8448eb211c80319c')
  expect((await asked(PEG, {}, 'HEAD')).body).toBe('')
  expect((await asked(PEG, {}, 'POST')).status).toBe(405)
  expect((await asked(PEG, { authorization: 'Bearer pk_nobody' })).status).toBe(401)
  expect((await asked(PEG, { authorization: 'Basic eDp5' })).status).toBe(401)
  expect((await asked(`${PEG}?as_of=tomorrow`)).status).toBe(400)
  expect(given()).toBe(before)
})

test('it counts against the same limit, by address and by key', async ({ clickhouse }) => {
  await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY, requests_per_minute: 7 })
  const { asked, given } = await setup(clickhouse, { limits: { free: 9, key: 1 } })
  for (const [headers, limit, policy] of [
    [{}, 9, 'free'],
    [{ authorization: `Bearer ${SUBSCRIPTION_KEY}` }, 7, 'key'],
  ] as const) {
    const seen = []
    for (let i = 0; i < limit + 2; i++) {
      const { status, all } = await asked(PEG, headers)
      expect(all['ratelimit-policy']).toBe(`"${policy}";q=${limit};w=60`)
      seen.push([status, /r=(\d+)/.exec(`${all.ratelimit}`)?.[1]])
    }
    const left = Array.from({ length: limit }, (_, i) => [200, `${limit - 1 - i}`])
    expect(seen).toEqual([...left, [429, '0'], [429, '0']])
  }
  expect(given()).toBeGreaterThan(9)
})

test('it is in the metrics and in the log like any other answer', async ({ clickhouse }) => {
  const lines: Record<string, unknown>[] = []
  const { asked, given, app } = await setup(clickhouse, {
    loggedShare: 1,
    log: (line) => void lines.push(JSON.parse(line)),
  })
  await asked(PEG)
  await asked(PEG, { 'x-request-id': 'mine' })
  const before = given()
  const { all } = await asked(PEG, { 'x-request-id': 'mine' })
  expect(given()).toBe(before + 1)
  const answered = () => lines.filter(({ msg }) => msg === 'answered')
  await expect.poll(() => answered().length).toBe(3)
  const [, theirs, ours] = answered()
  expect(ours?.request_id).toBe(all['x-request-id'])
  const stable = (line: Record<string, unknown> = {}) => {
    const { time: _, ms, request_id, trace_id, span_id, ...rest } = line
    expect([typeof ms, typeof trace_id, typeof span_id]).toEqual(['number', 'string', 'string'])
    expect(trace_id).toBe(`${request_id}`.replaceAll('-', ''))
    return rest
  }
  expect(stable(ours)).toEqual(stable(theirs))
  const counted = app.metrics.requests.text().match(/_count\{.*:address\/peg.*/g)
  expect(counted).toEqual([`_count{method="GET",route="${LIST}/:address/peg",status="200"} 3`])
  expect(app.cacheCounts).toEqual({ hit: 2, miss: 1, stale: 0 })
})

test('without it the service gives the same answers', async ({ clickhouse }) => {
  const { app, asked, injected } = await setup(clickhouse, { fastLane: false })
  expect(app.hasDecorator('fastLane')).toBe(false)
  for (const path of PATHS) {
    await injected(path)
    const { status, headers, body } = await injected(path)
    const got = await asked(path)
    expect([path, got.status, got.body]).toEqual([path, status, body])
    expect(got.headers, path).toEqual(headers)
    expect(got.headers['cache-status'], path).toBe('plumbline; hit')
  }
})
