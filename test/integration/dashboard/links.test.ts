import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addBoard } from '../../support/board.js'
import { test } from '../../support/dashboard.js'
import { addFacts, flow, stableAddress, tokenList } from '../../support/rows.js'

const PATIENT = { timeout: 60_000 }

/** What the controls of the page say that it shows. */
async function shownOn(page: Page): Promise<object> {
  const texts = (selector: string): Promise<string[]> => page.locator(selector).allInnerTexts()
  return {
    pressed: await texts('main button[aria-pressed=true]:not(.pin)'),
    chosen: await page
      .locator('main select')
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value)),
    written: await page
      .locator('main input[type=search]')
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value)),
    moment: await texts('.past time'),
    marked: await page.locator('tr.marked[id^=evt_]').count(),
    pinned: await page.locator('.pin[aria-pressed=true]').count(),
  }
}

test('every parameter of every view is in its URL, and the URL alone shows the same', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page, complaints } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const { broken, gap } = await addBoard(clickhouse, now)
  await addFacts(clickhouse, { lists: [tokenList()], flows: [flow(1, 2, now - 1800, { block_number: 1410 })] })
  const asOf = `${new Date((now - 3600) * 1000).toISOString().slice(0, 19)}Z`
  const moment = asOf.replace('T', ' ').replace('Z', ' UTC')
  const none = { pressed: [], chosen: [], written: [], moment: [], marked: 0, pinned: 0 }
  const board = { ...none, chosen: ['symbol', 'normal'], written: [''] }
  const past = { ...none, moment: [moment] }
  const event = `evt_${'4'.padStart(32, '0')}`
  const views: [string, object][] = [
    ['/', { ...board, pressed: ['24h', 'Lines'] }],
    ['/?w=1h', { ...board, pressed: ['1h', 'Lines'] }],
    ['/?sort=risk', { ...board, pressed: ['24h', 'Lines'], chosen: ['risk', 'normal'] }],
    [`/?pin=${gap},${broken}`, { ...board, pressed: ['24h', 'Lines'], pinned: 2 }],
    ['/?scale=coarse', { ...board, pressed: ['24h', 'Lines'], chosen: ['symbol', 'coarse'] }],
    ['/?shape=rows', { ...board, pressed: ['24h', 'Rows'], chosen: ['symbol'] }],
    ['/?shape=table&q=tw', { ...board, pressed: ['24h', 'Table'], chosen: ['symbol'], written: ['tw'] }],
    [
      `/?as_of=${asOf}&w=6h&sort=supply`,
      { ...board, ...past, pressed: ['6h', 'Lines'], chosen: ['supply', 'normal'], written: [''] },
    ],
    [`/s/${gap}`, { ...none, pressed: ['24h'] }],
    [`/s/${gap}?w=7d`, { ...none, pressed: ['7d'] }],
    [`/s/${gap}?range=30d`, { ...none, pressed: ['30d'] }],
    [`/s/${gap}?as_of=${asOf}&w=1h`, { ...past, pressed: ['1h'] }],
    ['/flows', { ...none, pressed: ['24h'], chosen: [''] }],
    ['/flows?hours=6', { ...none, pressed: ['6h'], chosen: [''] }],
    [`/flows?stable=${stableAddress(1)}`, { ...none, pressed: ['24h'], chosen: [stableAddress(1)] }],
    [`/flows?hours=1&as_of=${asOf}`, { ...past, pressed: ['1h'] }],
    ['/events', { ...none, chosen: ['', ''] }],
    [`/events?kind=breaks&stable=${broken}`, { ...none, chosen: ['breaks', broken] }],
    [`/events?event=${event}&at=1`, { ...none, chosen: ['', ''], marked: 1 }],
    [`/events?as_of=${asOf}`, { ...past, chosen: ['', ''] }],
    ['/status', none],
    [`/status?as_of=${asOf}`, past],
  ]
  for (const [path, expected] of views) {
    await page.goto(origin + path)
    await expect.poll(() => shownOn(page), { ...PATIENT, message: path }).toMatchObject(expected)
    // In the same words, so that what is copied from the address bar is what was opened.
    expect([path, page.url()]).toEqual([path, origin + path])
  }
  // Back and forth, without loading the page again.
  await page.goto(`${origin}/?w=1h&sort=risk`)
  await page.getByRole('link', { name: 'Flows' }).click()
  await page.getByRole('button', { name: '6h' }).click()
  expect(page.url()).toBe(`${origin}/flows?hours=6&w=1h&sort=risk`)
  await page.goBack()
  await page.goBack()
  await expect
    .poll(() => shownOn(page), PATIENT)
    .toMatchObject({ pressed: ['1h', 'Lines'], chosen: ['risk', 'normal'] })
  await page.goForward()
  await page.goForward()
  await expect.poll(() => shownOn(page), PATIENT).toMatchObject({ pressed: ['6h'] })
  expect(complaints).toEqual([])
})
