import { fastify, type InjectOptions } from 'fastify'
import { Credential } from 'mppx'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { auth } from '../../../../../api/callers/auth.js'
import { networkOf } from '../../../../../api/callers/limits/address.js'
import { limits } from '../../../../../api/callers/limits/plugin.js'
import { createRequestCounter } from '../../../../../api/callers/limits/request-counter.js'
import { createGateway } from '../../../../../api/callers/payments/gateway.js'
import { paid } from '../../../../../api/callers/payments/plugin.js'
import { isOurs } from '../../../../../api/callers/payments/proof.js'
import { createMetrics } from '../../../../../api/http/metrics.js'
import { sendProblem } from '../../../../../api/http/problem.js'
import { withKeys } from '../../../../support/active-keys.js'
import { paymentTerms } from '../../../../support/paying.js'

const ADMIN = `ak_${'a'.repeat(43)}`
const [SMALL, BIG] = ['s', 'b'].map((letter) => `pk_${letter.repeat(43)}`) as [string, string]

// Nothing listens there: the issuer of a challenge is known without the chain.
const TERMS = paymentTerms('http://127.0.0.1:9')

/** A credential for a challenge made with this secret. It pays nothing. */
async function credential(challengeSecret = TERMS.challengeSecret) {
  const offer = { price: '0.02', scope: 'GET /paid x', description: 'something' }
  const [challenge] = await createGateway({ ...TERMS, challengeSecret }, 4217).challenges(offer)
  if (!challenge) throw new Error('there is no challenge')
  const authorization = Credential.serialize({ challenge, payload: { type: 'hash', hash: `0x${'12'.repeat(32)}` } })
  return { headers: { authorization } }
}

async function setup({ free = 3, trustProxy = [] as string[] } = {}) {
  const app = fastify({ logger: false, trustProxy: trustProxy.length > 0 && trustProxy })
  onTestFinished(() => app.close())
  app.setErrorHandler(sendProblem)
  const metrics = createMetrics()
  app.decorate('metrics', metrics)
  withKeys(app, [
    { key: SMALL, requests_per_minute: 2 },
    { key: BIG, requests_per_minute: 5 },
  ])
  auth(app, ADMIN)
  const payments = { isOurs: (authorization: string) => isOurs(authorization, TERMS.challengeSecret) }
  limits(app, { free, key: 1 }, createRequestCounter(null, 'test', pino({ level: 'silent' })), payments)
  paid(app, null)
  const done: string[] = []
  const answer = (what: string) => async () => {
    done.push(what)
    return { what }
  }
  app.get('/free', answer('free'))
  const cost = ({ query }: { query: { rows?: string } }) => Number(query.rows ?? 1)
  app.get('/rows', { config: { cost } }, answer('rows'))
  app.get('/paid', { config: { price: '0.02' }, preHandler: async () => void done.push('looked') }, answer('paid'))
  app.get('/health', { config: { always: true } }, answer('health'))
  const ask = async (url: string, options: Omit<InjectOptions, 'url'> = {}) => {
    const { statusCode, headers, body } = await app.inject({ url, ...options })
    return { status: statusCode, headers, body }
  }
  const bearing = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
  const statuses = async (url: string, n: number, options: Omit<InjectOptions, 'url'> = {}) => {
    const all = []
    for (let i = 0; i < n; i++) all.push((await ask(url, options)).status)
    return all
  }
  const counted = async () => (await metrics.rateLimited.get()).values.map(({ labels, value }) => [labels.tier, value])
  return { ask, statuses, bearing, done, counted }
}

test('above the limit a request is 429 with Retry-After; below it the headers show what is left', async () => {
  const { ask, counted } = await setup()
  for (const left of [2, 1, 0]) {
    const { status, headers } = await ask('/free')
    expect(status).toBe(200)
    expect(headers['ratelimit-policy']).toBe('"free";q=3;w=60')
    expect(headers.ratelimit).toMatch(new RegExp(`^"free";r=${left};t=([1-9]|[1-5]\\d|60)$`))
  }
  expect(await counted()).toEqual([])
  const { status, headers, body } = await ask('/free')
  expect(status).toBe(429)
  expect(await counted()).toEqual([['free', 1]])
  expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(headers.ratelimit).toMatch(/^"free";r=0;t=\d+$/)
  expect(headers['retry-after']).toBe(/t=(\d+)/.exec(headers.ratelimit as string)?.[1])
  expect(headers['cache-control']).toBe('no-store')
  expect(JSON.parse(body)).toMatchObject({ status: 429, type: 'urn:plumbline:problem:too-many-requests' })
})

test('each address has its own limit, and each IPv6 network one for all of its addresses', async () => {
  const { statuses } = await setup({ free: 2 })
  const from = (remoteAddress: string) => statuses('/free', 3, { remoteAddress })
  expect(await from('192.0.2.1')).toEqual([200, 200, 429])
  expect(await from('192.0.2.2')).toEqual([200, 200, 429])
  expect(await from('::ffff:192.0.2.1')).toEqual([429, 429, 429])
  expect(await from('2001:db8::1')).toEqual([200, 200, 429])
  expect(await from('2001:db8::ffff:1')).toEqual([429, 429, 429])
  expect(await from('2001:db8:0:1::1')).toEqual([200, 200, 429])
})

test('each key has the limit it was created with, from any address', async () => {
  const { statuses, bearing, ask } = await setup({ free: 1 })
  expect(await statuses('/free', 3, bearing(SMALL))).toEqual([200, 200, 429])
  expect(await statuses('/free', 1, { ...bearing(SMALL), remoteAddress: '192.0.2.9' })).toEqual([429])
  expect(await statuses('/free', 6, bearing(BIG))).toEqual([200, 200, 200, 200, 200, 429])
  expect((await ask('/free', bearing(BIG))).headers['ratelimit-policy']).toBe('"key";q=5;w=60')
  // Requests with a key do not count against its address.
  expect(await statuses('/free', 2)).toEqual([200, 429])
})

test('the operator and health have no limit, and 0 means no limit', async () => {
  const { statuses, bearing, ask } = await setup({ free: 1 })
  expect(new Set(await statuses('/free', 20, bearing(ADMIN)))).toEqual(new Set([200]))
  expect(new Set(await statuses('/health', 20))).toEqual(new Set([200]))
  expect((await ask('/health')).headers).not.toHaveProperty('ratelimit')
  expect(await statuses('/free', 2)).toEqual([200, 429])
  const none = await setup({ free: 0 })
  expect(new Set(await none.statuses('/free', 50))).toEqual(new Set([200]))
})

test('an expensive request counts as several, once it is known to be valid', async () => {
  const { ask, done } = await setup({ free: 10 })
  const left = async (url: string) => /r=(\d+)/.exec((await ask(url)).headers.ratelimit as string)?.[1]
  expect(await left('/rows')).toBe('9')
  expect(await left('/rows?rows=4')).toBe('5')
  expect((await ask('/rows', { method: 'HEAD', query: { rows: '2' } })).headers.ratelimit).toMatch(/r=3;/)
  expect((await ask('/rows?rows=4')).status).toBe(429)
  expect(done).toEqual(['rows', 'rows', 'rows'])
  const other = await setup({ free: 10 })
  // A cost above the limit counts as the whole limit, so it is accepted in a new window.
  expect((await other.ask('/rows?rows=1000')).status).toBe(200)
  expect((await other.ask('/free')).status).toBe(429)
})

test('on a route with a price, callers over the limit must pay, and no work is done for others', async () => {
  const { ask, statuses, done, bearing } = await setup({ free: 2 })
  expect(await statuses('/free', 3)).toEqual([200, 200, 429])
  const { status, headers } = await ask('/paid')
  expect([status, headers['retry-after']]).toEqual([402, undefined])
  expect(headers.ratelimit).toMatch(/^"free";r=0;t=/)
  expect(done).toEqual(['free', 'free'])
  expect(await statuses('/paid', 3, bearing(SMALL))).toEqual([200, 200, 429])
})

test('any number of answers to our challenges are checked, and they do not count against the limit', async () => {
  const { ask, statuses, done } = await setup({ free: 2 })
  const payment = await credential()
  expect(await statuses('/paid', 3, payment)).toEqual([402, 402, 402])
  expect((await ask('/paid', payment)).headers).not.toHaveProperty('ratelimit')
  expect(await statuses('/free', 3)).toEqual([200, 200, 429])
  expect((await ask('/paid', payment)).headers).not.toHaveProperty('ratelimit')
  expect(done.filter((what) => what === 'looked')).toHaveLength(5)
  // On a route without a price it has no effect.
  expect((await ask('/free', payment)).status).toBe(429)
})

test('a forged payment counts like any request, and above the limit it only gets the price', async () => {
  const [ours, theirs] = [await credential(), await credential('the secret of another service, 32 bytes')]
  const changed = ours.headers.authorization.replace(/.{3}$/, '')
  for (const headers of [
    { authorization: 'Payment eyJ9' },
    { authorization: `payment ${'A'.repeat(4000)}` },
    { authorization: changed },
    theirs.headers,
  ]) {
    const { ask, statuses, done, counted } = await setup({ free: 2 })
    expect((await ask('/paid', { headers })).headers.ratelimit).toMatch(/^"free";r=1;t=/)
    expect(await statuses('/paid', 3, { headers })).toEqual([402, 402, 402])
    expect(done).toEqual(['looked', 'looked'])
    expect(await counted()).toEqual([['free', 2]])
    expect(await statuses('/free', 1)).toEqual([429])
    // A real payment is let through nevertheless.
    expect((await ask('/paid', { headers: ours.headers })).headers).not.toHaveProperty('ratelimit')
    expect(done).toEqual(['looked', 'looked', 'looked'])
  }
})

test('X-Forwarded-For is only trusted from a trusted proxy, and only the part that the proxy added', async () => {
  const open = await setup({ free: 1 })
  const claiming = (remoteAddress: string, claimed: string) => ({
    remoteAddress,
    headers: { 'x-forwarded-for': claimed, forwarded: `for=${claimed}`, 'x-real-ip': claimed },
  })
  expect(await open.statuses('/free', 1, claiming('192.0.2.1', '198.51.100.1'))).toEqual([200])
  expect(await open.statuses('/free', 1, claiming('192.0.2.1', '198.51.100.2'))).toEqual([429])

  const behind = await setup({ free: 1, trustProxy: ['10.0.0.0/8'] })
  expect(await behind.statuses('/free', 2, claiming('10.0.0.1', '198.51.100.1'))).toEqual([200, 429])
  expect(await behind.statuses('/free', 2, claiming('10.0.0.2', '198.51.100.2'))).toEqual([200, 429])
  // The part before it came from the client.
  for (const spoofed of ['203.0.113.9, 198.51.100.1', '10.9.9.9, 198.51.100.1', 'garbage, ,198.51.100.1'])
    expect(await behind.statuses('/free', 1, claiming('10.0.0.1', spoofed)), spoofed).toEqual([429])
  // Bypassing the proxy.
  expect(await behind.statuses('/free', 1, claiming('192.0.2.1', '198.51.100.77'))).toEqual([200])
  expect(await behind.statuses('/free', 1, claiming('192.0.2.1', '198.51.100.78'))).toEqual([429])
})

test.for([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['192.0.2.7:4711', 'unknown'],
  ['<script>', 'unknown'],
] as const)('%s counts as %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network)
})
