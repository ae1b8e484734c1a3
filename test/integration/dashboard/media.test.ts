import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { painted } from '../../support/board.js'
import { loadWhole, test } from '../../support/dashboard.js'
import { addWholePage } from '../../support/whole-page.js'

/** Of a sheet of A4 between its margins, in CSS pixels. */
const SHEET = 718

/** What is wider than its place, so that paper cuts it off; by its tag, class and text. */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main *')]
    .filter((one) => one.checkVisibility() && getComputedStyle(one).overflow !== 'visible' && getComputedStyle(one).textOverflow !== 'ellipsis' && !one.closest('.unseen, canvas'))
    .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
    .map((one) => one.tagName + ' ' + one.className + ' ' + one.textContent.slice(0, 40))`)

/** Pixels of a canvas that are nearly black, as lines on paper are, and that have the colour of lines in the dark. */
const lines = (page: Page, canvas: string): Promise<{ dark: number; light: number }> =>
  page.evaluate(`(() => {
    const canvas = document.querySelector(${JSON.stringify(canvas)})
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const found = { dark: 0, light: 0 }
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] < 250) continue
      if (Math.max(data[i], data[i + 1], data[i + 2]) < 40) found.dark++
      if (Math.abs(data[i] - 235) + Math.abs(data[i + 1] - 232) + Math.abs(data[i + 2] - 226) < 6) found.light++
    }
    return found
  })()`)

test('on paper there are pictures and open tables as a whole, in dark on white, and nothing to press', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page, complaints } = visit
  const { gap } = await addWholePage(clickhouse, Math.floor(clock.now.getTime() / 1000))
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const [path, picture] of [
    ['/', '.stage canvas'],
    [`/s/${gap}?w=1h`, '.heat canvas'],
    ['/flows', '.matrix'],
    ['/status', 'table'],
  ] as const) {
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(origin + path)
    if (path === '/') await painted(page)
    await page.locator(picture).first().waitFor()
    await loadWhole(page)
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    if (picture.includes('canvas')) {
      const onScreen = await lines(page, picture)
      expect([path, onScreen.light > 20, onScreen.dark]).toEqual([path, true, 0])
    }
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width: SHEET, height: 1000 })
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))',
    )
    expect([
      path,
      await page.locator('button:visible, nav:visible, input:visible, select:visible, .menu:visible').count(),
    ]).toEqual([path, 0])
    expect([path, await cutOff(page)]).toEqual([path, []])
    expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    if (picture.includes('canvas')) {
      const { dark, light } = await lines(page, picture)
      expect([path, dark > 20, light]).toEqual([path, true, 0])
    }
  }
  expect(complaints).toEqual([])
})

test('a browser that prints the board gives it the width and the colours of paper, and takes them back', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page } = visit
  await addWholePage(clickhouse, Math.floor(clock.now.getTime() / 1000))
  await page.setViewportSize({ width: 2200, height: 900 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(origin)
  await painted(page)
  const before = await page.locator('.stage canvas').first().getAttribute('style')
  // What is printed is what is there when all have heard of it.
  await page.evaluate(`addEventListener('beforeprint', () => queueMicrotask(() => queueMicrotask(() => {
    window.printed = [document.querySelector('.stage canvas').style.width, getComputedStyle(document.body).backgroundColor]
  })))`)
  expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-')
  expect(await page.evaluate('window.printed')).toEqual(['1000px', 'rgb(255, 255, 255)'])
  await expect.poll(() => page.locator('.stage canvas').first().getAttribute('style')).toBe(before)
})

test('whoever wants less motion gets none', async ({ clickhouse, clock, visit }) => {
  const { origin, page } = visit
  await addWholePage(clickhouse, Math.floor(clock.now.getTime() / 1000))
  const moving = (): Promise<number> => page.evaluate('document.getAnimations().length')
  for (const path of ['/', '/events', '/methodology']) {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.goto(origin + path)
    await page.locator('.stage canvas, tbody tr').first().waitFor()
    await page.keyboard.press('j')
    expect([path, await moving()]).toEqual([path, 0])
    // Whatever will ever move stands still too; and proof that motion would be noticed.
    await page.evaluate(`(() => {
      const sheet = new CSSStyleSheet()
      sheet.replaceSync('@keyframes turn { to { rotate: 1turn } } h1, main { animation: turn 60s infinite } a { transition: color 60s }')
      document.adoptedStyleSheets = [sheet]
    })()`)
    expect([path, await moving()]).toEqual([path, 0])
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    expect(await moving()).toBeGreaterThan(0)
  }
})
