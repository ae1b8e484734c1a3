import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { operationsOf } from '../../../../api/http/openapi/document.js'
import { test as base } from '../../../support/app.js'
import { openBrowser } from '../../../support/browser.js'
import { addFacts, stablecoin } from '../../../support/rows.js'

type Visit = {
  origin: string
  page: Page
  /** Every URL that the page has requested, and all errors that it has reported. */
  asked: string[]
  complaints: string[]
}

const test = base.extend<{ visit: Visit }>({
  visit: async ({ app }, use) => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const browser = await openBrowser()
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await use({ origin, page, asked, complaints })
    await browser.close()
  },
})

test('the reference shows every route, and sends requests only to its own service', async ({ app, visit }) => {
  const { origin, page, asked, complaints } = visit
  await page.goto(`${origin}/docs`)
  await page.waitForSelector('.opblock')
  const shown = await page.$$eval('.opblock', (blocks) =>
    blocks.map((block) => {
      const text = (selector: string) => block.querySelector(selector)?.textContent?.replaceAll('\u200b', '').trim()
      return `${text('.opblock-summary-method')} ${text('.opblock-summary-path')}`
    }),
  )
  const described = operationsOf((await app.inject('/openapi.json')).json()).map(
    ({ path, method }) => `${method.toUpperCase()} ${path}`,
  )
  expect(shown.sort()).toEqual(described.sort())
  expect(asked.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([])
  expect(complaints).toEqual([])
})

test('a route can be tried on the page', async ({ clickhouse, visit }) => {
  const { origin, page, complaints } = visit
  await addFacts(clickhouse, { stablecoins: [stablecoin(1)] })
  await page.goto(`${origin}/docs`)
  const block = page.locator('#operations-stablecoins-listStablecoins')
  await block.locator('.opblock-summary-control').click()
  await block.locator('button.execute').click()
  await block.locator('.live-responses-table .microlight').first().waitFor()
  expect(await block.locator('.live-responses-table').textContent()).toContain('"symbol": "S1"')
  expect(complaints).toEqual([])
})

test('padlocks and prices say what a route needs, and the endless stream cannot be tried', async ({ visit }) => {
  const { origin, page, complaints } = visit
  await page.goto(`${origin}/docs`)
  await page.waitForSelector('.opblock')
  const blocks = await page.$$eval('.opblock', (all) =>
    all.map((block) => ({
      path: block.querySelector('.opblock-summary-path')?.textContent?.replaceAll('\u200b', '').trim() ?? '',
      summary: block.querySelector('.opblock-summary-description')?.textContent ?? '',
      isLocked: block.querySelector('.authorization__btn') !== null,
    })),
  )
  const priced = /\/(analysis|flows\/history)$|\/flows\/export$/
  for (const { path, summary, isLocked } of blocks) {
    const price = /\(0\.\d+ USD\)$/.test(summary)
    expect([path, isLocked]).toEqual([path, priced.test(path) || path.startsWith('/api/admin/')])
    expect([path, price]).toEqual([path, priced.test(path)])
  }
  for (const [id, count] of [
    ['events-streamEvents', 0],
    ['events-listEvents', 1],
  ] as const) {
    const block = page.locator(`#operations-${id}`)
    await block.locator('.opblock-summary-control').click()
    await block.locator('.opblock-body .parameters-container').waitFor()
    expect([id, await block.locator('button.execute').count()]).toEqual([id, count])
  }
  expect(complaints).toEqual([])
})

test('it cannot run scripts of other origins', async ({ app }) => {
  for (const url of ['/docs', '/docs/', '/docs/static/swagger-ui-bundle.js', '/docs/static/swagger-initializer.js']) {
    const { statusCode, headers } = await app.inject(url)
    expect([url, statusCode]).toEqual([url, 200])
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';")
    expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/)
  }
  const missing = await app.inject('/docs/static/nothing.js')
  expect([missing.statusCode, missing.headers['content-type']]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ])
  expect((await app.inject('/docs/static/..%2f..%2fpackage.json')).statusCode).toBeGreaterThanOrEqual(400)
})
