import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { insertChainIdentity } from '../../../clickhouse/chain/identity.js'
import { REFERENCE_STABLE } from '../../../clickhouse/peg/price.js'
import { connect } from '../../../clickhouse/store/client.js'
import { snapshotRisk } from '../../../jobs/snapshot/risk.js'
import { CHAIN_ID } from '../../../local/chain/anvil.js'
import { addBoard } from '../../support/board.js'
import { test as base, loadWhole, type Visit } from '../../support/dashboard.js'
import { ALPHA_USD, paymentTerms } from '../../support/paying.js'
import { stableAddress } from '../../support/rows.js'
import { runSlots, slotAt } from '../../support/slots.js'

type Board = Awaited<ReturnType<typeof addBoard>>

/** A test with the stables of the board. */
const test = base.extend<{ now: number; board: Board }>({
  now: async ({ clock }, use) => use(Math.floor(clock.now.getTime() / 1000)),
  board: async ({ clickhouse, now }, use) => use(await addBoard(clickhouse, now)),
})

const PATIENT = { timeout: 60_000 }
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9'

const panel = (page: Page, title: string) =>
  page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) })

async function openStable({ origin, page }: Visit, address: string): Promise<void> {
  await page.goto(`${origin}/s/${address}?w=1h`)
  await page.locator('.stable-head').waitFor()
  await loadWhole(page)
}

/** Seconds until the page tries again, as it says in a notice. */
const secondsLeft = async (notice: ReturnType<Page['locator']>): Promise<number> =>
  Number(/Trying again in (\d+) s\./.exec(await notice.innerText())?.[1])

test('what was not measured is shown in the words of its coverage, neither as 0 nor as without a quote', async ({
  app,
  board,
  visit,
}) => {
  const { origin, page, asked } = visit
  await openStable(visit, board.unsampled)
  const parts = {
    Price: '/peg/series',
    Breaks: '/peg-events',
    Depth: '/depth/series',
    Supply: '/supply/series',
    Rewards: '/rewards',
  }
  // The first requests of a machine whose clock is wrong may be about the future.
  await expect
    .poll(() => panel(page, 'Price').locator('.readout-line').innerText(), PATIENT)
    .toBe('Not measured in this range.')
  // A panel whose first request failed had no table to open yet.
  await loadWhole(page)
  let lacking = 0
  for (const [title, part] of Object.entries(parts)) {
    const url = new URL(asked.findLast((one) => new URL(one).pathname.endsWith(part)) ?? origin)
    const { coverage } = (await app.inject(url.pathname + url.search)).json()
    const shown = await panel(page, title).locator('.not-measured').allInnerTexts()
    expect([title, shown]).toEqual([title, coverage.status === 'complete' ? [] : [coverage.message]])
    lacking += shown.length
  }
  expect(lacking).toBeGreaterThan(0)
  const { coverage } = (await app.inject(`/api/v1/stablecoins/${board.unsampled}`)).json()
  expect(coverage.status).not.toBe('complete')
  expect(await page.locator('.stable-head .not-measured').innerText()).toBe(coverage.message)
  expect(await page.locator('.stable-head .price').innerText()).toBe('Not measured')
  const cells = await panel(page, 'Price').locator('tbody td:nth-child(2)').allInnerTexts()
  expect(cells.length).toBeGreaterThan(50)
  expect(new Set(cells)).toEqual(new Set(['not measured']))
})

test('what is not computed yet is asked for again; before the start of history, the page leads back to now', async ({
  board,
  clickhouse,
  now,
  visit,
}) => {
  const { origin, page } = visit
  await page.clock.install()
  await openStable(visit, board.gap)
  const risk = panel(page, 'Risk')
  expect(await risk.locator('.notice').innerText()).toMatch(/^Not computed yet\s+There is no risk snapshot/)
  expect(await risk.getByRole('button').count()).toBe(0)
  const job = { job: 'risk', periodSeconds: 300, task: snapshotRisk }
  await runSlots(clickhouse, job, [slotAt('risk', Math.floor(now / 300) * 300)])
  await page.clock.fastForward(301_000)
  await risk.locator('.score').first().waitFor()

  for (const view of ['/flows', `/s/${board.gap}`]) {
    await page.goto(`${origin}${view}?as_of=${now - 10 * 86_400}`)
    const notice = page.locator('.notice', { hasText: 'Before the start of history' }).first()
    await notice.getByRole('button', { name: 'Back to now' }).click()
    await page.locator('.matrix, .readout-line, .stable-head').first().waitFor()
    expect(page.url()).toBe(origin + view)
  }
})

test('a stable or a page that does not exist is not found, and nothing else is shown', async ({ board: _, visit }) => {
  const { origin, page } = visit
  await page.goto(`${origin}/s/${stableAddress(0xff)}`)
  // The sections ask at once with the stable itself, and one of them may be refused before it.
  await page.locator('.notice', { hasText: 'There is no such thing' }).waitFor()
  expect(await page.locator('main').innerText()).toMatch(
    /^There is no such thing\s+0x20c1\S+ff is not a tracked stable\./,
  )
  expect(await page.locator('.panel').count()).toBe(0)
  await page.goto(`${origin}/s/abc`)
  expect(await page.locator('main').innerText()).toContain('An address is 0x and 40 hexadecimal digits.')
})

const unpaid = test.extend({ deps: { payments: paymentTerms(NOWHERE, { currencies: [ALPHA_USD, REFERENCE_STABLE] }) } })

unpaid(
  'an answer with a price shows it with the stables that pay it, how complete the answer is, and how it can be had',
  async ({ app, board, clickhouse, origin, visit }) => {
    const { page } = visit
    await insertChainIdentity(clickhouse, { chain_id: CHAIN_ID, genesis_hash: '0x' }, 'paid')
    const path = `/api/v1/stablecoins/${board.gap}/analysis`
    // The risk costs nothing, so the answer of a route with a price stands in for it, word for word.
    const priced = await fetch(origin + path)
    expect(priced.status).toBe(402)
    const [headers, body] = [Object.fromEntries(priced.headers), await priced.text()]
    await page.route('**/risk', (route) => route.fulfill({ status: 402, headers, body }))
    await openStable(visit, board.gap)
    const notice = panel(page, 'Risk').locator('.notice')
    expect(await notice.innerText()).toBe(
      `This answer has a price\n\nIt costs 0.05 0x20c0…0001 or pathUSD a request, or nothing with a subscription key. How to pay is in the reference. ${JSON.parse(body).coverage.message}`,
    )
    expect(await notice.getByRole('link').getAttribute('href')).toBe('/docs')

    const free = await app.inject(path)
    await page.unroute('**/risk')
    await page.route('**/risk', (route) =>
      route.fulfill({ status: 402, headers: free.headers as Record<string, string>, body: free.body }),
    )
    await openStable(visit, board.gap)
    expect(await notice.innerText()).toMatch(
      /costs 0.05 pathUSD[^.]*subscription key, and this service takes no payments\./,
    )
  },
)

const limited = test.extend({ deps: { limits: { free: 1, key: 1 } } })

limited(
  'above the limit, the time until the next try is counted down, and then it is made',
  async ({ app, board: _, origin, visit }) => {
    const { page, asked } = visit
    await page.clock.install()
    expect((await fetch(`${origin}/api/v1/stablecoins`)).status).toBe(200)
    await page.goto(`${origin}/flows`)
    const notice = panel(page, 'Between stables').locator('.notice')
    await notice.waitFor()
    expect(await notice.innerText()).toMatch(
      /^Too many requests\s+Rate limit of 1 requests per minute exceeded.*Trying again in \d+ s\. Request \S+$/s,
    )
    const first = await secondsLeft(notice)
    expect(first).toBeLessThanOrEqual(60)
    const flows = () => asked.filter((url) => url.includes('/stablecoins/flows')).length
    await expect.poll(() => secondsLeft(notice), PATIENT).toBeLessThan(first)
    expect(flows()).toBe(1)
    // The next minute: the service without a limit answers in its place.
    await page.route('**/stablecoins/**', async (route) => {
      const { pathname, search } = new URL(route.request().url())
      const { statusCode, headers, body } = await app.inject(pathname + search)
      await route.fulfill({ status: statusCode, headers: headers as Record<string, string>, body })
    })
    await page.clock.fastForward(61_000)
    await panel(page, 'Between stables').locator('.readout-line').waitFor()
    expect(flows()).toBe(2)
  },
)

const away = test.extend({
  deps: async ({ clickhouseEnv }, use) => {
    const clickhouse = connect({ ...clickhouseEnv, CLICKHOUSE_URL: NOWHERE }, { application: 'plumbline-test' })
    await use({ clickhouse })
    await clickhouse.close()
  },
})

away(
  'a failure shows what the service says, when the page tries again, and the number of the request',
  async ({ visit }) => {
    const { origin, page } = visit
    const ids: (string | undefined)[] = []
    page.on('response', (response) => {
      if (response.url().includes('/stablecoins/flows')) ids.push(response.headers()['x-request-id'])
    })
    await page.goto(`${origin}/flows`)
    const notice = panel(page, 'Between stables').locator('.notice')
    await notice.waitFor()
    expect(await notice.innerText()).toMatch(
      /^The service cannot answer at the moment\s+\S.*Trying again in \d s\. Request \S+$/s,
    )
    expect(ids).toContain(await notice.locator('code').innerText())
    expect(await notice.getAttribute('role')).toBe('alert')
  },
)

test('a wrong admin key is refused in words, and can be replaced', async ({ board: _, visit }) => {
  const { origin, page } = visit
  await page.goto(`${origin}/webhooks`)
  await page.locator('input[type=password]').fill('ak_not-the-key')
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.locator('.notice').waitFor()
  expect(await page.locator('.notice').innerText()).toMatch(
    /^A key is needed\s+The Authorization header does not contain/,
  )
  await page.getByRole('button', { name: 'Forget the key' }).click()
  await page.locator('input[type=password]').waitFor()
})
