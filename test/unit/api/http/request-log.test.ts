import { Writable } from 'node:stream'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { sendProblem } from '../../../../api/http/problem.js'
import { ID_LABEL, requestLog, tracedLogger } from '../../../../api/http/request-log.js'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const OWN_TRACE = '0f8fad5bd9cb469fa16570867728950e'
const [TRACE, PARENT] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'] as const

function appWith(share: number, level = 'info') {
  const lines: Array<Record<string, unknown>> = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const loggerInstance: FastifyBaseLogger = pino({ level }, stream)
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: ID_LABEL }),
    genReqId: () => ID,
    childLoggerFactory: tracedLogger,
  })
  app.setErrorHandler(sendProblem)
  requestLog(app, share)
  app.get('/things/:name', async (request) => {
    const { name } = request.params as { name: string }
    if (name === 'broken') throw new Error('inside')
    if (name === 'bad') throw Object.assign(new Error('bad'), { statusCode: 400 })
    request.log.info('at work')
    return {}
  })
  onTestFinished(() => app.close())
  return { app, lines, answered: () => lines.filter(({ msg }) => msg === 'answered') }
}

test('a line has the caller, the request and its result', async () => {
  const { app, answered } = appWith(1)
  await app.inject({ url: '/things/a?b=1', headers: { 'x-request-id': 'edge-7' }, remoteAddress: '203.0.113.7' })
  expect(answered()).toMatchObject([
    {
      request_id: ID,
      trace_id: OWN_TRACE,
      span_id: OWN_TRACE.slice(16),
      client_request_id: 'edge-7',
      method: 'GET',
      route: '/things/:name',
      url: '/things/a?b=1',
      status: 200,
      ms: expect.any(Number),
      ip: '203.0.113.7',
    },
  ])
  expect(answered()[0]).not.toHaveProperty('parent_id')
})

test('every line of a request has its id and its trace, which continues that of the sender', async () => {
  const { app, lines } = appWith(1)
  const response = await app.inject({ url: '/things/a', headers: { traceparent: `00-${TRACE}-${PARENT}-00` } })
  expect(lines.map(({ msg }) => msg)).toEqual(['at work', 'answered'])
  for (const line of lines) expect(line).toMatchObject({ request_id: ID, trace_id: TRACE })
  expect(lines[1]).toMatchObject({ parent_id: PARENT })
  expect(response.headers.traceresponse).toBe(`00-${TRACE}-${OWN_TRACE.slice(16)}-01`)
  expect((await app.inject('/things/a')).headers).not.toHaveProperty('traceresponse')
})

test('without a share only failures of the service are logged, or everything at debug level', async () => {
  const quiet = appWith(0)
  const loud = appWith(0, 'debug')
  for (const { app } of [quiet, loud]) for (const name of ['a', 'broken', 'bad']) await app.inject(`/things/${name}`)
  expect(quiet.answered().map(({ status }) => status)).toEqual([500])
  expect(loud.answered().map(({ status }) => status)).toEqual([200, 500, 400])
})

test('the query string of a refused URL is not logged, nor an id that could be taken for something else', async () => {
  const { app, lines } = appWith(1)
  const headers = { 'x-request-id': 'a b"}' }
  await app.inject({ url: '/things/bad?api_key=pk_mistake', headers })
  await app.inject({ url: '/nothing?api_key=pk_mistake', headers: { 'x-request-id': 'x'.repeat(200) } })
  expect(lines.filter(({ msg }) => msg === 'answered').map(({ url }) => url)).toEqual(['/things/bad', '/nothing'])
  expect(JSON.stringify(lines)).not.toMatch(/pk_mistake|client_request_id/)
})
