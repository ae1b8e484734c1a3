import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { buildApp } from '../../../api/app.js'
import { SUBSCRIPTION_KEY } from '../../support/app.js'
import { openBrowser } from '../../support/browser.js'
import { addEvents, madeUpEvent } from '../../support/events.js'
import { addApiKey } from '../../support/keys.js'
import { insertPaidData } from '../../support/paying.js'
import { type Relay, relayTo } from '../../support/relay.js'
import { stableAddress } from '../../support/rows.js'
import { test as base } from '../../support/services.js'
import { PATIENCE } from '../../support/stream.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Requests a minute without a key: more than the page makes until it wants to be refused. */
const FREE_REQUESTS = 40

/** A page of another site than the service, with the client as the global `plumbline` and nothing else. */
const PAGE = `<!doctype html><script type="module">
  import * as plumbline from './client.js'
  globalThis.plumbline = plumbline
</script>`

type Fixtures = {
  /** The service, behind a connection that can be cut. */
  service: Relay
  /** A page in which the client is loaded, and what it reported. */
  browser: { page: Page; complaints: string[] }
}

const test = base.extend<Fixtures>({
  service: async ({ clickhouse }, use) => {
    await insertPaidData(clickhouse)
    await addApiKey(clickhouse, { key: SUBSCRIPTION_KEY })
    const app = await buildApp({
      clickhouse,
      now: () => new Date(),
      limits: { free: FREE_REQUESTS, key: 0 },
      streams: { intervalMs: 20, heartbeatMs: 50 },
      logger: pino({ level: 'silent' }),
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const relay = await relayTo(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
    await use(relay)
    await relay.cut()
    await app.close()
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  browser: async ({}, use) => {
    const chromium = await openBrowser()
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-browser-'))
    // Not into its own `dist`, which other tests pack at the same time.
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/vite'), ['build', '--outDir', folder], {
      cwd: join(ROOT, 'clients/typescript'),
    })
    const client = await readFile(join(folder, 'client.js'), 'utf8')
    const site = createServer(({ url }, response) => {
      const isClient = url === '/client.js'
      response.setHeader('content-type', isClient ? 'text/javascript' : 'text/html').end(isClient ? client : PAGE)
    }).listen(0, '127.0.0.1')
    await once(site, 'listening')

    const page = await chromium.newPage()
    page.setDefaultTimeout(60_000)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    // CORS is a complaint; that a request was refused, or its connection cut, is what the test does.
    page.on('console', (message) => {
      if (message.type() === 'error' && /CORS|import|Content-Security/.test(message.text()))
        complaints.push(message.text())
    })
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    await page.waitForFunction('globalThis.plumbline !== undefined')
    await use({ page, complaints })
    await chromium.close()
    site.close()
    await rm(folder, { recursive: true })
  },
})

/** Runs statements in the page, with a client of the service; what they return. */
const inPage = (page: Page, service: Relay, statements: string, options = '{}'): Promise<unknown> =>
  page.evaluate(`(async () => {
    const client = plumbline.createClient({ baseUrl: '${service.url}', ...${options} })
    const failed = (request) => request.then(() => null, (error) => error)
    ${statements}
  })()`)

test('in Chromium, on a page of another site: pages, a stream that is cut, a key, and typed errors', async ({
  browser: { page, complaints },
  clickhouse,
  service,
}) => {
  const events = Array.from({ length: 9 }, (_, i) => madeUpEvent(i))
  await addEvents(clickhouse, events.slice(0, 5))

  const rows = `const ids = []
    for await (const { id } of client.listEvents({ after: '0', limit: 2 })) ids.push(id)
    return ids`
  expect(await inPage(page, service, rows)).toEqual(events.slice(0, 5).map(({ id }) => id))

  await inPage(
    page,
    service,
    `globalThis.got = []
     ;(async () => {
       for await (const { event, data } of client.streamEvents({ after: '0' })) got.push(event === 'ready' ? event : data.id)
     })()`,
  )
  const got = () => page.evaluate('got') as Promise<string[]>
  const expected = (count: number) => ['ready', ...events.slice(0, count).map(({ id }) => id)]
  await vi.waitFor(async () => expect(await got()).toEqual(expected(5)), PATIENCE)
  await service.cut()
  await addEvents(clickhouse, events.slice(5, 8))
  await service.mend()
  await vi.waitFor(async () => expect((await got()).filter((one) => one !== 'ready')).toHaveLength(8), PATIENCE)
  await addEvents(clickhouse, events.slice(8))
  await vi.waitFor(async () => expect((await got()).filter((one) => one !== 'ready')).toHaveLength(9), PATIENCE)
  expect((await got()).filter((one) => one !== 'ready')).toEqual(events.map(({ id }) => id))

  const address = stableAddress(1)
  const answer = `return (await client.getAnalysis({ address: '${address}' })).address`
  expect(await inPage(page, service, answer, `{ key: '${SUBSCRIPTION_KEY}' }`)).toBe(address)

  const unknown = `const error = await failed(client.getPeg({ address: '0x${'dead'.repeat(10)}' }))
    return [error instanceof plumbline.UnknownStableError, error.status, error.type]`
  expect(await inPage(page, service, unknown)).toEqual([true, 404, 'urn:plumbline:problem:unknown-stable'])

  // The wait is in a header field, which a page sees only if CORS exposes it. Each request is another, as browsers keep answers.
  const refused = `let error = null
    for (let i = 0; error === null && i <= ${FREE_REQUESTS}; i++) error = await failed(client.listEvents({ limit: i + 1 }))
    return [error instanceof plumbline.TooManyRequestsError, error.retryAfterMs > 0]`
  expect(await inPage(page, service, refused, '{ retries: 0 }')).toEqual([true, true])
  expect(complaints).toEqual([])
})
