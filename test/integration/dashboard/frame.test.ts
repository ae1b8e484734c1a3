import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { test } from '../../support/dashboard.js'
import { pegSamples, stableAddress } from '../../support/rows.js'
import { addMarket } from '../../support/wild-market.js'

test('another site can show the board in a frame, and no other view', async ({ clickhouse, clock, visit }) => {
  const { origin, page, complaints } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = [now - 900, now - 600, now - 300, now - 10]
  const samples = pegSamples(
    stableAddress(1),
    times.map((at) => ({ at, price: 1_000_300 })),
  )
  await addMarket(clickhouse, samples, times)
  const site = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').searchParams.get('path') ?? ''
    response.setHeader('content-type', 'text/html')
    response.end(`<iframe src="${origin}${path}" width="900" height="500"></iframe>`)
  }).listen(0, '127.0.0.1')
  try {
    await once(site, 'listening')
    const other = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    await page.goto(`${other}/?path=/embed%3Fw%3D1h`)
    const frame = page.frameLocator('iframe')
    await frame.locator('.heads a').first().waitFor()
    expect(await frame.locator('header, .toolbar:visible').count()).toBe(0)
    expect(await frame.locator('.source a').getAttribute('href')).toBe('/?w=1h')
    expect(await frame.locator('.heads a').first().getAttribute('href')).toBe(`/embed/s/${stableAddress(1)}?w=1h`)
    expect(complaints).toEqual([])

    await page.goto(`${other}/?path=/webhooks`)
    await expect.poll(() => complaints.join(), { timeout: 20_000 }).toContain('frame-ancestors')
    expect(await page.frameLocator('iframe').locator('main').count()).toBe(0)
  } finally {
    site.closeAllConnections()
    site.close()
  }
})
