import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { type AppDeps, buildApp } from '../../api/app.js'
import { ADMIN_KEY, test as base, WEBHOOK_TERMS } from './app.js'
import { openBrowser } from './browser.js'

/** The folder that `npm run build` writes the page into. */
export const DASHBOARD = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))

export type Visit = {
  origin: string
  page: Page
  /** Every URL that the page has requested. */
  asked: string[]
  /** Violations of its Content-Security-Policy, errors that nobody caught, and all others that it has reported. */
  complaints: string[]
}

type Fixtures = {
  /** What the service has besides; nothing, unless a test says otherwise. */
  deps: Partial<AppDeps>
  /** The address of the service with the page, at the time of `clock`. */
  origin: string
  visit: Visit
}

/** A test with the built page in a browser, over a real service. */
export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  deps: async ({}, use) => use({}),
  origin: async ({ clickhouse, clock, deps }, use) => {
    if (!existsSync(DASHBOARD)) throw new Error('the page is not built: npm run build')
    const app = await buildApp({
      clickhouse,
      now: () => clock.now,
      adminKey: ADMIN_KEY,
      webhooks: WEBHOOK_TERMS,
      dashboard: DASHBOARD,
      logger: pino({ level: 'silent' }),
      ...deps,
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    await use(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
    await app.close()
  },
  visit: async ({ origin }, use) => {
    const browser = await openBrowser()
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const asked: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    // A refused request is in the page's own words; that it failed is not a complaint.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
      console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
    })`)
    await use({ origin, page, asked, complaints })
    await browser.close()
  },
})

/** Loads what is below the screen too, as printing does, and opens the tables behind the pictures. */
export async function loadWhole(page: Page): Promise<void> {
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
  while ((await page.locator('main .loading').count()) > 0) await page.waitForTimeout(50)
  await page.evaluate(`for (const table of document.querySelectorAll('details.behind')) table.open = true`)
  // Each is made when its opening is noticed.
  while ((await page.locator('details.behind:not(:has(table))').count()) > 0) await page.waitForTimeout(50)
}
