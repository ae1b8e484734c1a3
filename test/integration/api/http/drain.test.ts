import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { readyApi } from '../../../support/api-server.js'
import { clickhouseRelay } from '../../../support/clickhouse-relay.js'
import { addBlocks, addFacts, stableAddress, stablecoin } from '../../../support/rows.js'
import { test } from '../../../support/services.js'

type Answer = { status: number | undefined; connection: string | undefined; body: string }

/** Sends a request over a connection that the client wants to keep. */
async function ask(url: string, agent: Agent): Promise<Answer> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, connection: response.headers.connection, body: await text(response) }
}

test('when asked to stop, it reports not ready first, serves for a while, and finishes running requests', async ({
  clickhouseEnv,
  clickhouse,
}) => {
  const now = Math.floor(Date.now() / 1000)
  await addBlocks(clickhouse, [now - 7200, now - 10])
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(async () => {
    agent.destroy()
    await relay.close()
  })
  const { child, url, ended, stderr } = await readyApi({
    ...clickhouseEnv,
    CLICKHOUSE_URL: relay.url,
    DRAIN_NOTICE_SECONDS: '15',
    DRAIN_SECONDS: '120',
  })
  const { origin } = new URL(url)
  expect(await ask(`${origin}/health/ready`, agent)).toMatchObject({ status: 200, connection: 'keep-alive' })

  // A series is allowed to take longer than other answers.
  const release = relay.hold('peg_series')
  const slow = Array.from({ length: 3 }, () => ask(`${url}/${stableAddress(1)}/peg/series?from=1h&interval=1m`, agent))
  const held = () => relay.seen.filter(({ query }) => query.get('log_comment') === 'peg_series').length
  await expect.poll(held, { timeout: 60_000 }).toBe(3)
  child.kill('SIGTERM')
  await expect.poll(() => stderr.join('\n'), { timeout: 60_000 }).toContain('no longer ready')
  const ready = await ask(`${origin}/health/ready`, agent)
  expect(ready).toMatchObject({ status: 503, connection: 'close', body: expect.stringContaining('shutting down') })
  expect(await ask(`${origin}/health/live`, agent)).toMatchObject({ status: 200, connection: 'close' })
  // New connections are refused, while running requests still wait for their answers.
  const isClosed = () =>
    ask(`${origin}/health/live`, agent).then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
    )
  await expect.poll(isClosed, { timeout: 60_000, interval: 200 }).toBe(true)
  expect(child.exitCode).toBeNull()

  release()
  const answers = await Promise.all(slow)
  for (const { status, connection, body } of answers) {
    expect([status, connection]).toEqual([200, 'close'])
    expect(JSON.parse(body).data.length).toBeGreaterThan(0)
  }
  expect(await ended).toBe(0)
  expect(stderr.join('\n')).not.toContain('cutting off')
})

test('requests that do not end in time are cut off, and the process still ends', async ({ clickhouseEnv }) => {
  const relay = await clickhouseRelay(clickhouseEnv.CLICKHOUSE_URL)
  onTestFinished(() => relay.close())
  const { child, url, ended, stderr } = await readyApi({
    ...clickhouseEnv,
    CLICKHOUSE_URL: relay.url,
    DRAIN_SECONDS: '1',
  })
  relay.hold('stables_page')
  const stuck = fetch(url).then(
    () => 'answered',
    () => 'cut off',
  )
  const held = () => relay.seen.some(({ query }) => query.get('log_comment') === 'stables_page')
  await expect.poll(held, { timeout: 60_000 }).toBe(true)
  child.kill('SIGTERM')
  expect(await stuck).toBe('cut off')
  expect(await ended).toBe(0)
  expect(stderr.join('\n')).toContain('cutting off')
})
