import { stat } from 'node:fs/promises'
import { expect } from 'vitest'
import { retractionOf } from '../../../clickhouse/events/types.js'
import { ADMIN_KEY } from '../../support/app.js'
import { findings } from '../../support/axe.js'
import { test as base, DASHBOARD } from '../../support/dashboard.js'
import { addEvents, madeUpEvent } from '../../support/events.js'
import {
  addBlocks,
  addFacts,
  flow,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  tokenList,
} from '../../support/rows.js'
import { addWebhookSubscription } from '../../support/webhook-subscriptions.js'

const MINUTE = 60
/** What a stable may need, the first load of the page included, in bytes of gzip. */
const MOST_BYTES = 48 * 1024
const STABLE = stableAddress(1)
const OTHER = stableAddress(2)
/** A symbol that would show something else, or do something, if it were more than text. */
const HOSTILE = '\u202eDSU<img src=x>'

const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
/** As the page writes a time. */
const timeText = (seconds: number): string => `${iso(seconds).replace('T', ' ').slice(0, 19)} UTC`

type Market = { now: number; minute: (ago: number) => number }

/** A test with a market of two hours: one stable that has no quote from 40 to 31 minutes ago, and one beside it. */
const test = base.extend<{ market: Market }>({
  market: async ({ clickhouse, clock }, use) => {
    const now = Math.floor(clock.now.getTime() / 1000)
    const newest = Math.floor(now / MINUTE) * MINUTE
    const minute = (ago: number): number => newest - ago * MINUTE
    const times = Array.from({ length: 120 }, (_, i) => minute(119 - i))
    await addBlocks(clickhouse, times)
    const priceAt = (at: number): number | 'no_liquidity' =>
      at >= minute(40) && at <= minute(31) ? ('no_liquidity' as const) : 1_000_100
    await addFacts(clickhouse, {
      stablecoins: [
        stablecoin(1, { symbol: HOSTILE, block_time: minute(119) }),
        stablecoin(2, { block_time: minute(119) }),
      ],
      lists: [tokenList()],
      samples: [
        ...pegSamples(
          STABLE,
          times.map((at) => ({ at, price: priceAt(at) })),
        ),
        ...pegSamples(
          OTHER,
          times.map((at) => ({ at, price: 999_900 })),
        ),
      ],
      states: [stateRead(STABLE, { block_number: 120, block_time: minute(0) })],
      flows: [flow(1, 2, minute(10), { block_number: 110 })],
    })
    await use({ now, minute })
  },
})

/** The requests for data about a stable. */
const about = (asked: readonly string[]): URL[] =>
  asked.filter((url) => url.includes('/stablecoins/')).map((url) => new URL(url))

test('a stable has gaps where it had no quote, and what is below the screen is not asked for', async ({
  market,
  visit,
}) => {
  const { page, origin, asked, complaints } = visit
  await page.setViewportSize({ width: 1280, height: 500 })
  await page.goto(`${origin}/s/${STABLE}?w=1h`)
  await page.locator('.plot canvas').first().waitFor()
  expect(await page.locator('h1').innerText()).toBe('DSU<img src…')
  expect(await page.title()).toContain('DSU')
  expect(about(asked).some(({ pathname }) => pathname.endsWith('/rewards'))).toBe(false)
  // Another picture may be there before the price's, and its table may have a row of the same time.
  const price = page.getByRole('region', { name: 'Price' })
  await price.locator('details.behind summary').click()
  const rowOf = (ago: number) =>
    price.locator('tr', { has: page.getByText(timeText(market.minute(ago)), { exact: true }) })
  expect(await rowOf(35).innerText()).toContain('no quote')
  expect(await rowOf(20).innerText()).toContain('+1.0')
  await page.locator('h2', { hasText: 'Rewards' }).scrollIntoViewIfNeeded()
  await expect.poll(() => about(asked).some(({ pathname }) => pathname.endsWith('/rewards'))).toBe(true)
  await page.locator('.panel:last-child .facts').waitFor()
  expect(await findings(page)).toEqual([])
  expect(complaints).toEqual([])
  const assets = asked.map((url) => new URL(url).pathname).filter((path) => path.startsWith('/assets/'))
  const sizes = await Promise.all([...new Set(assets)].map(async (path) => (await stat(`${DASHBOARD}${path}.gz`)).size))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(20 * 1024)
  expect(total).toBeLessThanOrEqual(MOST_BYTES)
})

test('a stable in the past asks for nothing that came later', async ({ market, visit }) => {
  const { page, origin, asked, complaints } = visit
  const asOf = market.minute(60)
  await page.setViewportSize({ width: 1280, height: 4000 })
  await page.goto(`${origin}/s/${STABLE}?w=1h&as_of=${iso(asOf)}`)
  await page.locator('.plot canvas').first().waitFor()
  await page.locator('.panel:last-child :is(.facts, .notice)').waitFor()
  const requests = about(asked)
  expect(requests.length).toBeGreaterThanOrEqual(8)
  for (const { pathname, searchParams } of requests) {
    const until = Number(searchParams.get('to') ?? searchParams.get('as_of'))
    expect([pathname, until > 0 && until <= asOf]).toEqual([pathname, true])
  }
  expect(complaints).toEqual([])
})

test('a link to an event shows it, what was taken back is struck out, and new events come by themselves', async ({
  clickhouse,
  market,
  visit,
}) => {
  const { page, origin, complaints } = visit
  const started = madeUpEvent(1, {
    stables: [STABLE],
    occurred_at: new Date(market.minute(50) * 1000),
    data: {
      stable: STABLE,
      severity: 'mild',
      started_at: iso(market.minute(55)),
      max_deviation_bps: 12,
      started_block: 65,
    },
  })
  await addEvents(clickhouse, [started])
  await addEvents(clickhouse, [
    retractionOf({ ...started, recorded_at: new Date(market.minute(45) * 1000) }, 'not_found'),
  ])
  await page.goto(`${origin}/events?event=${started.id}&at=1&kind=breaks`)
  await page.locator('tr.marked').waitFor()
  expect(await page.locator('tr.marked').innerText()).toContain('left its peg')
  expect(await page.locator('tr.marked .taken').count()).toBe(1)
  expect(await page.locator('tbody tr').count()).toBe(2)
  expect(await page.locator('select').first().inputValue()).toBe('breaks')
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Show the newest' }).click()
  await addEvents(clickhouse, [
    madeUpEvent(2, {
      stables: [OTHER],
      occurred_at: new Date(market.minute(1) * 1000),
      data: {
        stable: OTHER,
        severity: 'severe',
        started_at: iso(market.minute(2)),
        max_deviation_bps: 70,
        started_block: 118,
        standing_tokens: 0,
        thin: true,
      },
    }),
  ])
  await expect.poll(() => page.locator('tbody tr').first().innerText(), { timeout: 30_000 }).toContain('severe, thin')
  expect(complaints).toEqual([])
})

test('the status says in words what is missing', async ({ clickhouse, market, visit }) => {
  const { page, origin, complaints } = visit
  // Ten blocks are between this one and those of the market.
  await addBlocks(clickhouse, [market.now], 131)
  await page.goto(`${origin}/status`)
  await page.locator('.panel table').first().waitFor()
  await page.locator('.troubles').waitFor()
  expect(await page.locator('.troubles').innerText()).toContain('10 blocks between others are missing.')
  expect(await page.locator('main').innerText()).toContain(`of ${timeText(market.now)}`)
  expect(await findings(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('flows are a matrix, and the admin key is in no storage and no URL', async ({ clickhouse, market, visit }) => {
  void market
  const { page, origin, asked, complaints } = visit
  const { id } = await addWebhookSubscription(clickhouse)
  await page.goto(`${origin}/flows?hours=6`)
  await page.locator('.matrix').waitFor()
  expect(await page.locator('.matrix td', { hasText: '1' }).first().getAttribute('title')).toContain(
    '$1 in 1 transaction',
  )
  expect(await findings(page)).toEqual([])
  await page.goto(`${origin}/webhooks?webhook=${id}`)
  await page.locator('input[type=password]').fill(ADMIN_KEY)
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.locator('.one').getByRole('button', { name: 'Send a test' }).click()
  await page.locator('.attempts, .one tbody tr').first().waitFor()
  expect(await findings(page)).toEqual([])
  // Not by JSON.stringify alone: a storage hides what is stored under the name of one of its methods.
  const kept = await page.evaluate(`JSON.stringify([
    ...[localStorage, sessionStorage].flatMap((storage) =>
      Array.from(storage, (_, i) => [storage.key(i), storage.getItem(storage.key(i))])),
    document.cookie, history.state, location.href, document.title,
  ])`)
  expect(kept).not.toContain(ADMIN_KEY)
  expect(asked.filter((url) => url.includes(ADMIN_KEY))).toEqual([])
  expect(complaints).toEqual([])
  // Gone with the page.
  await page.reload()
  await page.locator('input[type=password]').waitFor()
})
