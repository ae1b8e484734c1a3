import type { ClickHouseClient } from '@clickhouse/client'
import { fastify } from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { AsOfEcho, AsOfQuery, createHistoryStart, PastEcho } from '../../../../api/answers/as-of.js'
import { endpoint } from '../../../../api/answers/endpoint.js'
import { serializerCompiler, validatorCompiler } from '../../../../api/http/compilers.js'
import { sendProblem } from '../../../../api/http/problem.js'
import { requestLog } from '../../../../api/http/request-log.js'
import { Memories } from '../../../../process/memory.js'

const NOW = new Date('2026-07-01T12:00:00.500Z')
const START = new Date('2026-06-01T00:00:00Z')
const STABLE = `0x20c0${'0'.repeat(36)}`
const described = { tag: 'risk', operationId: 'get', summary: 'A route', description: 'A route of a test.' }

async function appWith(route: ReturnType<typeof endpoint>) {
  const app = fastify()
  onTestFinished(() => app.close())
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(sendProblem)
  app.decorate('clickhouse', {} as ClickHouseClient)
  app.decorate('now', () => NOW)
  app.decorate('stables', {
    has: async (address) => address === STABLE,
    creationOf: async () => undefined,
    countInUse: async () => 1,
  })
  app.decorate(
    'history',
    createHistoryStart(async () => START, new Memories()),
  )
  app.decorateRequest('asOf', null)
  app.decorateRequest('sharedSignal', null)
  requestLog(app, 0)
  await app.register(route)
  return async (url: string) => {
    const { statusCode, headers, body } = await app.inject(url)
    return { status: statusCode, echo: headers['x-service-as-of'], body: JSON.parse(body) }
  }
}

const answer = vi.fn(({ at }: { at: Date }) => ({ at: at.toISOString() }))

test('an answer is about now, or about the requested instant, which body and header repeat', async () => {
  const shapes = { as_of: AsOfEcho, at: z.string() }
  const ask = await appWith(endpoint({ ...described, path: '/a', about: 'moment', response: z.object(shapes), answer }))
  expect(await ask('/a')).toEqual({
    status: 200,
    echo: undefined,
    body: { as_of: null, at: '2026-07-01T12:00:00.000Z' },
  })
  expect(await ask('/a?as_of=2026-06-15')).toEqual({
    status: 200,
    echo: '2026-06-15T00:00:00Z',
    body: { as_of: '2026-06-15T00:00:00Z', at: '2026-06-15T00:00:00.000Z' },
  })
})

test('an optional echo is omitted if no instant was requested', async () => {
  const response = z.object({ as_of: PastEcho, at: z.string() })
  const ask = await appWith(endpoint({ ...described, path: '/a', about: 'moment', response, answer }))
  expect((await ask('/a')).body).toEqual({ at: '2026-07-01T12:00:00.000Z' })
  expect((await ask('/a?as_of=24h')).body).toEqual({ as_of: '2026-06-30T12:00:00Z', at: '2026-06-30T12:00:00.000Z' })
})

test('requests without an answer are refused in one order, and the answer function is not called', async () => {
  const path = '/:address/a'
  const response = z.object({ at: z.string() })
  const ask = await appWith(endpoint({ ...described, path, about: 'moment', response, answer }))
  answer.mockClear()
  for (const [url, status, type] of [
    ['/0x12/a?as_of=tomorrow', 400, 'bad-parameter'],
    [`/${STABLE.replace('c', 'd')}/a?as_of=tomorrow`, 400, 'bad-parameter'],
    [`/${STABLE.replace('c', 'd')}/a?as_of=2001-01-01`, 404, 'unknown-stable'],
    [`/${STABLE}/a?as_of=2026-05-31`, 404, 'before-history'],
    [`/${STABLE}/a?as_of=0`, 404, 'before-history'],
    [`/${STABLE}/a?asof=24h`, 400, 'bad-parameter'],
  ] as const) {
    const refused = await ask(url)
    expect([url, refused.status, refused.body.type]).toEqual([url, status, `urn:plumbline:problem:${type}`])
    expect(refused.echo).toBeUndefined()
  }
  expect(answer).not.toHaveBeenCalled()
  expect((await ask(`/${STABLE}/a`)).status).toBe(200)
})

test('a missing snapshot is a 404 with the name of its history, whatever blocks there are', async () => {
  const response = z.object({ n: z.number() })
  const query = { n: z.coerce.number(), ...AsOfQuery }
  const ask = await appWith(
    endpoint({
      ...described,
      path: '/a',
      about: 'snapshot',
      query,
      response,
      answer: ({ at, query: { n } }) => (at.getTime() < START.getTime() ? null : { n }),
    }),
  )
  expect((await ask('/a?n=1&as_of=2026-06-02')).body).toEqual({ n: 1 })
  const missing = await ask('/a?n=1&as_of=2001-01-01')
  expect([missing.status, missing.echo, missing.body.parameter]).toEqual([404, undefined, 'as_of'])
  expect(missing.body.detail).toContain('risk')
})
