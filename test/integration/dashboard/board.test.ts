import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { insertExcursions } from '../../../clickhouse/peg/excursions.js'
import { addBoard, BREAK, GAP, painted } from '../../support/board.js'
import { test as base, type Visit } from '../../support/dashboard.js'
import { addEvents, madeUpEvent } from '../../support/events.js'

type Board = Awaited<ReturnType<typeof addBoard>>

/** A test with the board of a market that has everything that it shows. */
const test = base.extend<{ board: Board; now: number }>({
  now: async ({ clock }, use) => use(Math.floor(clock.now.getTime() / 1000)),
  board: async ({ clickhouse, now }, use) => use(await addBoard(clickhouse, now)),
})

const MINUTE = 60
const PATIENT = { timeout: 60_000 }
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
const text = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText()
const data = (asked: readonly string[]): string[] =>
  asked.filter((url) => url.includes('/api/v1/') && !url.endsWith('/stream'))

/** Number of pixels of the page's ink in a stable's lane, between two moments. */
async function inkOf(page: Page, address: string, from: number, to: number): Promise<number> {
  return page.evaluate(
    `(([address, from, to]) => {
      const canvas = document.querySelector('.stage canvas')
      const slider = document.querySelector('.slider')
      const head = document.querySelector('[data-address="' + address + '"]').closest('li')
      const box = (element) => element.getBoundingClientRect()
      const [first, last] = [Number(slider.min), Number(slider.max)]
      const top = box(slider).top + 8 - box(canvas).top
      const yOf = (at) => top + ((at - first) / (last - first)) * (box(slider).height - 16)
      const x = box(head).left - box(canvas).left
      const { data } = canvas.getContext('2d').getImageData(x, yOf(from), box(head).width, yOf(to) - yOf(from))
      let ink = 0
      for (let i = 0; i < data.length; i += 4) if (data[i] < 110 && data[i + 1] < 110 && data[i + 2] < 110 && data[i + 3] > 100) ink++
      return ink
    })(${JSON.stringify([address, from, to])})`,
  )
}

async function open({ page, origin }: Visit, path = '/'): Promise<void> {
  await page.goto(origin + path)
  await painted(page)
}

test('every stable hangs from the beam, told apart by address, and hostile names are only text', async ({
  board,
  visit,
}) => {
  const { page, complaints } = visit
  await open(visit)
  const names = await page.locator('.heads a').allInnerTexts()
  expect(names).toEqual([
    'BROKEN',
    expect.stringMatching(/^DSU<img src…$/),
    'GAP',
    `no symbol ${board.nameless.slice(-4)}`,
    `TWIN ${board.twin.slice(-4)}`,
    `TWIN ${board.otherTwin.slice(-4)}`,
    'UNSAMPLED',
  ])
  expect(await page.locator('main img').count()).toBe(0)
  expect(await text(page, '.summary')).toBe('6 of 7 within 10 bps of the peg; 1 not measured (UNSAMPLED).')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(complaints).toEqual([])
})

test('where there was no quote, the string is broken, and nothing is drawn across', async ({ board, now, visit }) => {
  const { page } = visit
  await open(visit)
  const ago = (minutes: number): number => now - minutes * MINUTE
  expect(await inkOf(page, board.gap, ago(GAP.from + 60), ago(GAP.from + 10))).toBeGreaterThan(10)
  expect(await inkOf(page, board.gap, ago(GAP.from - 10), ago(GAP.to + 10))).toBe(0)
  expect(await inkOf(page, board.unsampled, ago(600), ago(100))).toBe(0)
  const slider = await page.locator('.slider').boundingBox()
  const head = await page.locator(`li:has([data-address="${board.gap}"])`).boundingBox()
  if (!slider || !head) throw new Error('both are shown')
  const share = 1 - (GAP.from + GAP.to) / 2 / (24 * 60)
  await page.mouse.move(head.x + head.width / 2, slider.y + 8 + share * (slider.height - 16))
  expect(await text(page, '.readout')).toContain('No quote')
})

test('the slider shows any loaded moment without a request, and letting it go moves the page there', async ({
  board: _,
  now,
  visit,
}) => {
  const { page, asked, origin } = visit
  await open(visit)
  const box = await page.locator('.slider').boundingBox()
  if (!box) throw new Error('there is a slider')
  await page.waitForTimeout(500)
  const before = data(asked).filter((url) => !url.includes('/status')).length
  await page.mouse.move(box.x + 8, box.y + box.height - 8)
  await page.mouse.down()
  const during = now - ((BREAK.from + BREAK.to) / 2) * MINUTE
  for (const share of [0.2, 0.9, 0.5, 1 - (now - during) / 86_400])
    await page.mouse.move(box.x + 8, box.y + 8 + share * (box.height - 16), { steps: 5 })
  await expect
    .poll(() => text(page, '.summary'), PATIENT)
    .toMatch(/UTC: 5 of 7 within 10 bps of the peg; 1 outside by 10 to 50 bps \(BROKEN\)/)
  expect(data(asked).filter((url) => !url.includes('/status'))).toHaveLength(before)
  await page.mouse.up()
  await page.waitForURL(/as_of=/)
  await expect.poll(() => text(page, '.summary'), PATIENT).toMatch(/^5 of 7 within/)
  const requests = data(asked)
    .slice(before)
    .filter((url) => !url.includes('/status'))
  expect(requests.length).toBeGreaterThanOrEqual(2)
  expect(requests.length).toBeLessThanOrEqual(6)
  const asOf = new URL(page.url()).searchParams.get('as_of') ?? ''
  expect(Math.abs(Date.parse(asOf) / 1000 - during)).toBeLessThan(10 * MINUTE)
  expect(await text(page, '.past time')).toBe(asOf.replace('T', ' ').replace('Z', ' UTC'))
  // The link alone shows the same.
  const other = await page.context().newPage()
  await other.goto(page.url())
  await painted(other)
  await expect.poll(() => text(other, '.summary'), PATIENT).toMatch(/^5 of 7 within/)
  await other.close()
  await page.keyboard.press('l')
  await expect.poll(() => page.url(), PATIENT).toBe(`${origin}/`)
  await expect.poll(() => text(page, '.summary'), PATIENT).toMatch(/^6 of 7 within/)
})

test('a URL restores the view, and what is chosen is in the URL', async ({ board, now, visit }) => {
  const { page, origin } = visit
  const asOf = iso(now - 3 * 3600)
  const query = `as_of=${asOf}&w=6h&sort=supply&pin=${board.gap},${board.nameless}&scale=fine&shape=lines`
  await open(visit, `/?${query}`)
  expect(
    await page.locator('.heads a').evaluateAll((links) => links.map((link) => link.getAttribute('data-address'))),
  ).toEqual([board.gap, board.nameless, board.unsampled, board.hostile, board.broken, board.otherTwin, board.twin])
  expect(await page.locator('.controls button[aria-pressed=true]').allInnerTexts()).toEqual(['6h', 'Lines'])
  expect(
    await page
      .locator('.controls select')
      .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value)),
  ).toEqual(['supply', 'fine'])
  expect(await text(page, '.past')).toContain(asOf.slice(11, 19))

  await page.goto(origin)
  await painted(page)
  await page.locator('.controls select').first().selectOption('deviation')
  await page.getByRole('button', { name: '7d' }).click()
  await page.getByRole('button', { name: 'Rows' }).click()
  await page.locator('#search').fill('tw')
  await page.locator(`li:has([data-address="${board.twin}"])`).hover()
  await page.getByRole('button', { name: `Pin TWIN ${board.twin.slice(-4)}` }).click()
  const { searchParams } = new URL(page.url())
  expect(Object.fromEntries(searchParams)).toEqual({
    sort: 'deviation',
    w: '7d',
    shape: 'rows',
    q: 'tw',
    pin: board.twin,
  })
  const shown = await page.locator('.heads a').allInnerTexts()
  expect(shown).toHaveLength(2)
  await page.reload()
  await painted(page)
  expect(await page.locator('.heads a').allInnerTexts()).toEqual(shown)
  await page.goBack()
  await expect.poll(() => new URL(page.url()).searchParams.get('shape'), PATIENT).toBe(null)
})

test('everything can be done with keys', async ({ board, visit }) => {
  const { page } = visit
  await open(visit)
  await page.keyboard.press('/')
  await page.keyboard.type('broken')
  expect(await page.locator('.heads a').allInnerTexts()).toEqual(['BROKEN'])
  await page.locator('#search').fill('')
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  expect(await text(page, '.readout')).toContain('BROKEN')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  expect(await text(page, '.readout')).toContain('GAP')
  await page.keyboard.press('k')
  await page.keyboard.press(']')
  expect(await text(page, '.readout')).toMatch(/BROKEN[\s\S]*Break since \d\d:\d\d[\s\S]*up to 30 bps/)
  await page.keyboard.press('Escape')
  expect(await page.locator('.readout').count()).toBe(0)
  await page.keyboard.press('[')
  expect(await text(page, '.readout')).toMatch(/BROKEN[\s\S]*Break since/)
  await page.keyboard.press('p')
  expect(new URL(page.url()).searchParams.get('pin')).toBe(board.broken)
  await page.keyboard.press('?')
  expect(await page.getByRole('dialog').innerText()).toContain('next break')
  await page.keyboard.press('Escape')
  await page.keyboard.press('t')
  const rows = page.locator('table tbody tr')
  expect(await rows.count()).toBe(7)
  const row = await rows.filter({ hasText: 'BROKEN' }).innerText()
  // Now is the middle: a token costs a basis point more than it sells for. What was is what it sold for.
  expect(row.split('\t').slice(2, 5)).toEqual(['+0.5', '−30', '0'])
  expect(await rows.filter({ hasText: 'UNSAMPLED' }).innerText()).not.toMatch(/\t0\t/)
  await page.keyboard.press('t')
  await painted(page)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect.poll(() => new URL(page.url()).pathname, PATIENT).toMatch(/^\/s\/0x/)
})

test('a break that lasts longer than the log of events that is read is still shown', async ({
  board,
  clickhouse,
  now,
  visit,
}) => {
  const { page } = visit
  const started = now - 3 * 86_400
  const day = iso(started).slice(8, 10).replace(/^0/, '')
  const since = new RegExp(`since ${day} \\w{3} ${iso(started).slice(11, 16)}`)
  const breakAt = (stable: string, at: number) => ({
    stables: [stable],
    occurred_at: new Date(at * 1000),
    data: { stable, severity: 'severe', started_at: iso(at), max_deviation_bps: 80, started_block: 1 },
  })
  await addEvents(clickhouse, [madeUpEvent(1000, breakAt(board.otherTwin, started))])
  const newer = Array.from({ length: 520 }, (_, i) =>
    madeUpEvent(1001 + i, breakAt(board.twin, started + 60 * (i + 1))),
  )
  await addEvents(clickhouse, newer)
  await insertExcursions(clickhouse, 'published', [
    {
      stable: board.otherTwin,
      severity: 'severe',
      direction: 'above',
      started_at: started,
      started_block: 1,
      confirmed_at: started + 60,
      ended_at: null,
      ended_block: null,
      max_deviation_micros: 8000,
      standing_tokens: null,
      revision: 0,
      slot_at: now,
      is_deleted: 0,
    },
  ])
  await open(visit, `/?pin=${board.otherTwin}`)
  await page.keyboard.press('j')
  const readout = await text(page, '.readout')
  expect(readout).toContain(board.otherTwin.slice(-4))
  expect(readout).toMatch(since)
  expect(readout).toContain('Severe break')
  await page.keyboard.press('t')
  expect(await text(page, 'table tbody tr')).toMatch(since)
})

test('the picture is saved as an image, a drawing and numbers, without the markup of a name', async ({
  board,
  visit,
}) => {
  const { page, complaints } = visit
  await open(visit)
  const saved: Record<string, string> = {}
  for (const kind of ['PNG', 'SVG', 'CSV']) {
    await page.locator('.menu summary').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: kind }).click()])
    expect(file.suggestedFilename()).toMatch(new RegExp(`^plumbline-pegs-.*\\.${kind.toLowerCase()}$`))
    saved[kind] = await readFile(await file.path(), 'latin1')
  }
  expect(saved.PNG?.slice(1, 4)).toBe('PNG')
  expect(saved.SVG).toContain('DSU&lt;img')
  expect(saved.SVG).not.toContain('<img')
  const lines = saved.CSV?.trimEnd().split('\r\n') ?? []
  expect(lines.filter((line) => line.startsWith(board.gap) && line.endsWith(',,,,1')).length).toBeGreaterThan(10)
  expect(complaints).toEqual([])
})
