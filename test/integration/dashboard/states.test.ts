import { expect } from 'vitest'
import { insertChainHead } from '../../../clickhouse/chain/heads.js'
import { addBoard, painted } from '../../support/board.js'
import { test } from '../../support/dashboard.js'
import { addBlocks } from '../../support/rows.js'

const PATIENT = { timeout: 60_000 }
const SERVICE = '**/api/v1/**'

test('when the service is gone, slow or refuses, the picture stays and says how old it is', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page } = visit
  await addBoard(clickhouse, Math.floor(clock.now.getTime() / 1000))
  await page.goto(origin)
  await painted(page)
  const overdue = page.locator('.overdue').first()
  const names = await page.locator('.heads a').allInnerTexts()

  const problem = (status: number, detail: string) => ({
    status,
    headers: { 'retry-after': '30', 'x-request-id': 'request-17' },
    contentType: 'application/problem+json',
    body: JSON.stringify({ type: 'urn:plumbline:problem:x', status, detail }),
  })
  const states = [
    [(route) => route.abort(), /old\. The service cannot be reached\. Trying again in \d s/],
    [
      (route) => route.fulfill(problem(503, 'the data cannot be read')),
      /old\. The data cannot be read\. Trying again in \d\d s\. Request request-17/,
    ],
    [
      (route) => route.fulfill(problem(429, 'rate limit exceeded')),
      /old\. Rate limit exceeded\. Trying again in \d\d s/,
    ],
  ] as [Parameters<typeof page.route>[1], RegExp][]
  for (const [answer, words] of states) {
    await page.route(SERVICE, answer)
    await page.locator('.controls button', { hasText: '6h' }).click()
    await expect.poll(() => overdue.innerText(), PATIENT).toMatch(words)
    expect(await page.locator('.heads a').allInnerTexts()).toEqual(names)
    await page.unroute(SERVICE)
    await page.locator('.controls button', { hasText: '24h' }).click()
    await overdue.waitFor({ state: 'detached' })
  }
})

test('before there is anything to show, it says why', async ({ visit, clickhouse, clock }) => {
  const { origin, page } = visit
  await page.goto(origin)
  expect(await page.locator('.notice').innerText()).toContain('No stables yet')
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBoard(clickhouse, now)
  await page.goto(`${origin}/?as_of=${now - 10 * 86_400}`)
  expect(await page.locator('.notice').innerText()).toContain('Before the start of history')
  await page.getByRole('button', { name: 'Back to now' }).click()
  await painted(page)

  const never = new Promise<never>(() => {})
  await page.route('**/api/v1/stablecoins', () => never)
  await page.goto(origin)
  expect(await page.locator('.loading').innerText()).toBe('Loading the stables …')
  await page.unroute('**/api/v1/stablecoins')
  // A history that loads is not one that was not measured: nothing is painted of it, and nothing is said to be missing.
  await page.route('**/peg/series?*', () => never)
  await page.goto(origin)
  await page.locator('.heads a').first().waitFor()
  expect(await page.locator('.legend .not-measured').innerText()).toBe('Loading the history …')
  const slider = await page.locator('.slider').boundingBox()
  const head = await page.locator('.heads li').last().boundingBox()
  if (!slider || !head) throw new Error('both are shown')
  await page.mouse.move(head.x + head.width / 2, slider.y + slider.height / 2)
  expect(await page.locator('.readout').innerText()).toContain('The history is not loaded.')
  await page.unroute('**/peg/series?*')
  await page.route(SERVICE, (route) => route.abort())
  await page.goto(origin)
  await page.locator('.notice.amber').waitFor()
  expect(await page.locator('.notice.amber').innerText()).toMatch(/cannot be reached[\s\S]*Trying again in \d s/)
})

test('the newest block and its age are always shown, amber when they are old', async ({ visit, clickhouse, clock }) => {
  const { origin, page } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  await addBoard(clickhouse, now)
  await page.goto(`${origin}/flows`)
  await expect.poll(() => page.locator('.link').innerText(), PATIENT).toMatch(/^Live\s*block 1\u2009440, \d+ s ago$/)
  clock.now = new Date((now + 600) * 1000)
  await page.reload()
  await expect.poll(() => page.locator('.link').innerText(), PATIENT).toMatch(/^Stale\s*block 1\u2009440, 10 min/)
  expect(await page.locator('.link').getAttribute('class')).toContain('stale')
  // It gets newer: the past is being read, and the page says how far.
  await addBlocks(clickhouse, [now + 60], 1441)
  await insertChainHead(clickhouse, { tag: 'latest', block_number: 1450, block_time: now + 590 })
  clock.now = new Date((now + 605) * 1000)
  await expect
    .poll(() => page.locator('.link').innerText(), PATIENT)
    .toMatch(/^Catching up\s*block 1\u2009441 of 1\u2009450, 9 min/)
})

test('all tabs share one stream, and the next one takes it over', async ({ visit, clickhouse, clock }) => {
  const { origin, page } = visit
  await addBoard(clickhouse, Math.floor(clock.now.getTime() / 1000))
  const streams: string[] = []
  const context = page.context()
  context.on('request', (request) => request.url().endsWith('/stream') && streams.push(request.url()))
  await page.goto(origin)
  await painted(page)
  const others = [await context.newPage(), await context.newPage()]
  for (const other of others) {
    await other.goto(origin)
    await expect.poll(() => other.locator('.link').innerText(), PATIENT).toMatch(/^Live\s*block/)
  }
  expect(streams).toHaveLength(1)
  await page.close()
  await expect.poll(() => streams.length, PATIENT).toBe(2)
  for (const other of others) await expect.poll(() => other.locator('.link').innerText(), PATIENT).toMatch(/^Live/)
})
