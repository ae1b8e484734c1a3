import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addBoard, painted } from '../../support/board.js'
import { test } from '../../support/dashboard.js'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds, in short. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ target }) => target.join(' ')).join(', ')))`)
}

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

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
