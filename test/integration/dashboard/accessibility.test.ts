import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { ADMIN_KEY } from '../../support/app.js'
import { findings } from '../../support/axe.js'
import { addBoard, painted } from '../../support/board.js'
import { loadWhole, test } from '../../support/dashboard.js'
import { WEBHOOK_IDS } from '../../support/market-webhooks.js'
import { addWholePage } from '../../support/whole-page.js'

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
/** What is tall or narrow breaks other rules on a phone; in the dark, only colours can. */
const SHOWN = [
  { screen: DESKTOP, theme: 'light', rules: undefined },
  { screen: DESKTOP, theme: 'dark', rules: ['color-contrast'] },
  { screen: PHONE, theme: 'dark', rules: ['color-contrast'] },
  { screen: PHONE, theme: 'light', rules: undefined },
] as const

/** Whether the page is wider than the screen, so that it would have to be moved sideways to be read. */
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')

test('axe finds nothing on the board, in light and dark, on desktop and phone', async ({
  visit,
  clickhouse,
  clock,
}) => {
  const { origin, page } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const { broken } = await addBoard(clickhouse, now)
  const shown = [
    [DESKTOP, 'light', ''],
    [DESKTOP, 'light', `?shape=rows&pin=${broken}`],
    [DESKTOP, 'light', '?shape=table'],
    [DESKTOP, 'dark', `?as_of=${now - 7200}`],
    [DESKTOP, 'dark', '?shape=table'],
    [PHONE, 'light', ''],
    [PHONE, 'dark', ''],
  ] as const
  for (const [viewport, colorScheme, query] of shown) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await page.goto(`${origin}/${query}`)
    if (query.includes('table')) await page.locator('table').waitFor()
    else await painted(page)
    expect([query, viewport, colorScheme, await findings(page)]).toEqual([query, viewport, colorScheme, []])
  }
  await page.keyboard.press('?')
  expect(await findings(page)).toEqual([])
  // Proof that it would find something.
  await page.evaluate(`document.querySelector('dialog').append(document.createElement('button'))`)
  expect(await findings(page)).toContainEqual(expect.stringContaining('button-name'))
})

test('axe finds nothing on any other view with all of its tables open, and none is wider than a phone', async ({
  visit,
  clickhouse,
  clock,
}) => {
  const { origin, page, complaints } = visit
  const { gap } = await addWholePage(clickhouse, Math.floor(clock.now.getTime() / 1000))
  const useKey = async (): Promise<void> => {
    await page.locator('input[type=password]').fill(ADMIN_KEY)
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.locator('.one tbody tr').first().waitFor()
  }
  const views: [string, string, () => Promise<void>][] = [
    [`/s/${gap}?w=1h`, '.heat canvas', async () => {}],
    ['/flows', '.matrix', async () => {}],
    ['/events', 'tbody tr', async () => {}],
    ['/status', '.blocks', async () => {}],
    ['/webhooks', 'input[type=password]', async () => {}],
    [`/webhooks?webhook=${WEBHOOK_IDS.enabled}`, 'input[type=password]', useKey],
    ['/methodology', 'main table', async () => {}],
    ['/docs/webhooks', 'main p', async () => {}],
  ]
  const wrong: unknown[] = []
  for (const [path, shown, prepare] of views) {
    await page.goto(origin + path)
    await page.locator(shown).first().waitFor({ state: 'attached' })
    await prepare()
    await loadWhole(page)
    for (const { screen, theme, rules } of SHOWN) {
      await page.setViewportSize(screen)
      await page.emulateMedia({ colorScheme: theme })
      const found = await findings(page, rules)
      wrong.push(...found.map((finding) => [path, screen.width, theme, finding]))
      if (await isTooWide(page)) wrong.push([path, screen.width, theme, 'wider than the screen'])
    }
  }
  expect(wrong).toEqual([])
  expect(complaints).toEqual([])
})
