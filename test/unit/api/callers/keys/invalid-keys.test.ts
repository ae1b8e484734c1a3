import { type FastifyBaseLogger, fastify } from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { auth } from '../../../../../api/callers/auth.js'
import { invalidKeys, MOST_INVALID_KEYS } from '../../../../../api/callers/keys/invalid-keys.js'
import { createRequestCounter } from '../../../../../api/callers/limits/request-counter.js'
import { createMetrics } from '../../../../../api/http/metrics.js'
import { sendProblem } from '../../../../../api/http/problem.js'
import { withKeys } from '../../../../support/known-keys.js'

const VALID = `pk_${'v'.repeat(43)}`
const wrong = (i: number): string => `pk_wrong-${i}-${'x'.repeat(30)}`

test('invalid keys are limited by address, logged without the key and counted; valid ones still work', async () => {
  let log = ''
  const write = (line: string): void => {
    log += line
  }
  const loggerInstance: FastifyBaseLogger = pino({ level: 'info' }, { write })
  const app = fastify({ loggerInstance })
  onTestFinished(() => app.close())
  app.setErrorHandler(sendProblem)
  app.decorate('metrics', createMetrics())
  withKeys(app, [{ key: VALID }], () => invalidKeys(app, createRequestCounter(null, 'test', loggerInstance)))
  auth(app, undefined)
  app.get('/data', async () => ({}))
  const ask = (key: string, remoteAddress = '192.0.2.1') =>
    app.inject({ url: '/data', remoteAddress, headers: { authorization: `Bearer ${key}` } })

  const statuses: number[] = []
  for (let i = 0; i < MOST_INVALID_KEYS + 5; i++) statuses.push((await ask(wrong(i))).statusCode)
  expect(statuses).toEqual([...Array(MOST_INVALID_KEYS).fill(401), ...Array(5).fill(429)])
  const limited = await ask(wrong(99))
  expect(limited.json()).toMatchObject({ status: 429, type: 'urn:plumbline:problem:too-many-invalid-keys' })
  expect(limited.headers['retry-after']).toBe('60')
  expect((await ask(VALID)).statusCode).toBe(200)
  expect((await ask(wrong(0), '192.0.2.2')).statusCode).toBe(401)

  const lines = log.split('\n').filter((line) => line.includes('invalid key'))
  expect(lines).toHaveLength(MOST_INVALID_KEYS + 1)
  expect(JSON.parse(lines[0] as string)).toMatchObject({ ip: '192.0.2.1', method: 'GET', route: '/data' })
  expect(log).not.toContain('wrong-')
  const { values } = await app.metrics.invalidKeys.get()
  expect(values.map(({ labels, value }) => [labels.outcome, value])).toEqual([
    ['refused', MOST_INVALID_KEYS + 1],
    ['limited', 6],
  ])
})
