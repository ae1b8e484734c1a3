import { Writable } from 'node:stream'
import { type FastifyBaseLogger, fastify } from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { pino } from 'pino'
import { test as base, expect } from 'vitest'
import { z } from 'zod'
import { auth } from '../../../../../api/callers/auth.js'
import { paid } from '../../../../../api/callers/payments/plugin.js'
import { validatorCompiler } from '../../../../../api/http/compilers.js'
import { NotFoundError } from '../../../../../api/http/errors.js'
import { sendProblem } from '../../../../../api/http/problem.js'

import { REFERENCE_STABLE } from '../../../../../clickhouse/peg/price.js'
import { withKeys } from '../../../../support/active-keys.js'

const [ONE, TWO] = ['1'.repeat(32), `${'2'.repeat(40)}+/=`] as const

async function appWith(keys: readonly string[]) {
  let log = ''
  const stream = new Writable({
    write: (chunk, _, done) => {
      log += chunk
      done()
    },
  })
  const logger: FastifyBaseLogger = pino({ level: 'trace' }, stream)
  const app = fastify({ loggerInstance: logger }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(sendProblem)
  withKeys(
    app,
    keys.map((key) => ({ key })),
  )
  auth(app, undefined)
  paid(app, null)
  let answered = 0
  app.get(
    '/paid/:what',
    {
      config: { price: '0.02' },
      schema: { querystring: z.strictObject({ hours: z.coerce.number().default(1) }) },
      preHandler: async ({ params }) => {
        if ((params as { what: string }).what === 'nothing') throw new NotFoundError('unknown-stable', 'no such thing')
      },
    },
    async () => ({ answered: ++answered }),
  )
  app.get('/free', async () => ({ free: true }))
  await app.ready()
  const ask = (url: string, authorization?: string, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, ...(authorization !== undefined && { headers: { authorization } }) })
  return { ask, answered: () => answered, log: () => log, close: () => app.close() }
}

const test = base.extend<{ api: Awaited<ReturnType<typeof appWith>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  api: async ({}, use) => {
    const api = await appWith([ONE, TWO])
    await use(api)
    await api.close()
  },
})

test('without a key a paid route returns its price, and does nothing else', async ({ api }) => {
  const response = await api.ask('/paid/thing')
  expect(response.statusCode).toBe(402)
  expect(response.headers).toMatchObject({
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'www-authenticate': 'Bearer realm="plumbline"',
  })
  expect(response.json()).toEqual({
    help: '/docs/api#payments',
    type: 'urn:plumbline:problem:payment-required',
    title: 'Payment Required',
    status: 402,
    detail: expect.stringContaining('0.02'),
    instance: '/paid/thing',
    price: '0.02',
    currency: REFERENCE_STABLE,
  })
  expect(api.answered()).toBe(0)
})

test.for([
  ['Bearer', `Bearer ${ONE}`],
  ['the other key', `Bearer ${TWO}`],
  ['in any letter case of the scheme', `bearer  ${ONE} `],
])('%s gives access, and the answer must not be cached', async ([, authorization], { api }) => {
  const response = await api.ask('/paid/thing', authorization)
  expect([response.statusCode, response.json()]).toEqual([200, { answered: 1 }])
  expect(response.headers['cache-control']).toBe('private, no-store')
})

test.for([
  ['another key', `Bearer ${'3'.repeat(32)}`],
  ['the beginning of a key', `Bearer ${ONE.slice(0, 31)}`],
  ['more than a key', `Bearer ${ONE}1`],
  ['a key in another letter case', `Bearer ${TWO.toLowerCase()}x`],
  ['two keys', `Bearer ${ONE} ${TWO}`],
  ['both keys as they are configured', `Bearer ${ONE},${TWO}`],
  ['nothing', 'Bearer '],
  ['an empty header', ''],
  ['another scheme', `Basic ${ONE}`],
  ['a key without a scheme', ONE],
])('%s is refused as an invalid key', async ([, authorization], { api }) => {
  const response = await api.ask('/paid/thing', authorization)
  expect(response.statusCode).toBe(401)
  expect(response.headers).toMatchObject({
    'cache-control': 'no-store',
    'www-authenticate': 'Bearer realm="plumbline", error="invalid_token"',
  })
  expect(response.json()).toMatchObject({ type: 'urn:plumbline:problem:invalid-key', title: 'Unauthorized' })
  expect(api.answered()).toBe(0)
})

test('bad parameters and missing objects are reported before the price', async ({ api }) => {
  for (const authorization of [undefined, `Bearer ${ONE}`]) {
    expect((await api.ask('/paid/thing?hour=1', authorization)).statusCode).toBe(400)
    expect((await api.ask('/paid/nothing', authorization)).statusCode).toBe(404)
  }
})

test('a HEAD request has the same price', async ({ api }) => {
  expect((await api.ask('/paid/thing', undefined, 'HEAD')).statusCode).toBe(402)
  expect((await api.ask('/paid/thing', 'Bearer wrong', 'HEAD')).statusCode).toBe(401)
  expect((await api.ask('/paid/nothing', undefined, 'HEAD')).statusCode).toBe(404)
  expect(api.answered()).toBe(0)
  expect((await api.ask('/paid/thing', `Bearer ${ONE}`, 'HEAD')).statusCode).toBe(200)
})

test('a route without a price is free, but an invalid key is refused', async ({ api }) => {
  expect((await api.ask('/free', 'Bearer wrong')).statusCode).toBe(401)
  for (const authorization of [undefined, `Bearer ${ONE}`]) {
    const response = await api.ask('/free', authorization)
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, undefined])
  }
})

test('without configured keys, paid routes are closed', async () => {
  const api = await appWith([])
  expect((await api.ask('/paid/thing')).statusCode).toBe(402)
  expect((await api.ask('/paid/thing', `Bearer ${ONE}`)).statusCode).toBe(401)
  await api.close()
})

test('no key gets into a log or an answer', async ({ api }) => {
  const secret = 'Q'.repeat(33)
  const answers = [await api.ask('/paid/thing', `Bearer ${ONE}`), await api.ask('/paid/thing', `Bearer ${secret}`)]
  expect(api.log()).toContain('/paid/thing')
  const said = [api.log(), ...answers.map(({ body, headers }) => body + JSON.stringify(headers))].join()
  for (const key of [ONE, secret]) expect(said).not.toContain(key)
})
