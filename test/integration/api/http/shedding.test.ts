import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../../../api/http/metrics.js'
import { sendProblem } from '../../../../api/http/problem.js'
import { shedding } from '../../../../api/http/shedding.js'

async function appWith(maxDelayMs: number) {
  const app = fastify()
  onTestFinished(() => app.close())
  app.setErrorHandler(sendProblem)
  app.decorate('metrics', createMetrics())
  await shedding(app, maxDelayMs, () => false)
  app.get('/data', async () => ({}))
  app.get('/health', { config: { always: true } }, async () => ({}))
  return app
}

/** Blocks the event loop. */
function block(ms: number): void {
  for (const until = Date.now() + ms; Date.now() < until; );
}

test('while the event loop is delayed, requests are 503 with Retry-After except health, and afterwards all work again', async () => {
  const app = await appWith(300)
  const status = async (url: string) => (await app.inject(url)).statusCode
  await expect.poll(() => status('/data'), { timeout: 50_000 }).toBe(200)
  block(3000)
  await expect.poll(() => status('/data'), { timeout: 50_000, interval: 10 }).toBe(503)
  block(3000)
  await expect
    .poll(
      async () => {
        const [data, health] = [await app.inject('/data'), await app.inject('/health')]
        expect(health.statusCode).toBe(200)
        return { ...data.json(), retryAfter: data.headers['retry-after'] }
      },
      { timeout: 50_000, interval: 10 },
    )
    .toMatchObject({ status: 503, type: 'urn:plumbline:problem:overloaded', retryAfter: '5' })
  await expect.poll(() => status('/data'), { timeout: 50_000 }).toBe(200)
  expect((await app.metrics.shed.get()).values[0]?.value).toBeGreaterThanOrEqual(2)
})

test('0 disables it', async () => {
  const app = await appWith(0)
  block(1500)
  for (let i = 0; i < 20; i++) {
    expect((await app.inject('/data')).statusCode).toBe(200)
    await new Promise((resolve) => setImmediate(resolve))
  }
})
