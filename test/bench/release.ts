// From letting the slider of the board go to the last answer that the page then asks for: a day of 50 stables with a sample a
// minute, instants that nobody has asked for before, the API in a process of its own, Chromium without a GPU.
import type { Page, Request } from 'playwright-core'
import { painted } from '../support/board.js'
import { openBrowser } from '../support/browser.js'
import { addBlocks, addFacts, pegSamples, stableAddress, stablecoin, stateRead } from '../support/rows.js'
import { percentile } from './measure.js'
import { startProgram } from './programs.js'
import { startStack } from './stack.js'

const STABLES = 50
const MINUTES = 24 * 60
const RELEASES = 40
/** Every ninth stable has lost its quote some hours ago. */
const LOST_MINUTES = 300
/** So long without a request, and the page has what it wanted. */
const QUIET_MS = 400

/** Requests of the page to the API, but for the stream. */
function watch(page: Page) {
  const open = new Set<Request>()
  const seen = { count: 0, endedAt: 0 }
  const isOurs = (request: Request): boolean => /\/api\/v1\/(?!stream)/.test(request.url())
  page.on('request', (request) => {
    if (!isOurs(request)) return
    seen.count += 1
    open.add(request)
  })
  const end = (request: Request): void => {
    if (open.delete(request)) seen.endedAt = performance.now()
  }
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return {
    /** Milliseconds from now, before `act`, to the end of the last request that it causes; and how many there were. */
    measure: async (act: () => Promise<unknown>): Promise<{ ms: number; count: number }> => {
      Object.assign(seen, { count: 0, endedAt: 0 })
      const start = performance.now()
      await act()
      while (open.size > 0 || seen.count === 0 || performance.now() - seen.endedAt < QUIET_MS)
        await page.waitForTimeout(20)
      return { ms: seen.endedAt - start, count: seen.count }
    },
  }
}

const stack = await startStack()
try {
  const { env, clickhouse } = await stack.database('release')
  const end = Math.floor(Date.now() / 1000)
  const times = Array.from({ length: MINUTES }, (_, i) => end - (MINUTES - 1 - i) * 60)
  const ids = Array.from({ length: STABLES }, (_, i) => i + 1)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: ids.map((i) => stablecoin(i, { symbol: `S${i}USD` })),
    states: ids.map((i) => stateRead(stableAddress(i), { supply_raw: `${i}000000000` })),
    samples: ids.flatMap((i) =>
      pegSamples(
        stableAddress(i),
        times.map((at, minute) => ({
          at,
          price: i % 9 === 0 && minute > MINUTES - LOST_MINUTES ? 'no_liquidity' : 1_000_000 + ((i * minute) % 700),
        })),
      ),
    ),
  })
  const limits = { FREE_REQUESTS_PER_MINUTE: '1000000', MAX_EVENT_LOOP_DELAY_MS: '0' }
  const api = await startProgram('api/server.js', { ...env, ...limits, PORT: '0', LOG_LEVEL: 'error' }, 'api ready at ')
  const browser = await openBrowser()
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  const watched = watch(page)
  await page.goto(new URL(api.line.slice('api ready at '.length)).origin)
  await painted(page)
  const releases: { ms: number; count: number }[] = []
  for (let i = 0; i < RELEASES; i++) {
    const at = end - 3600 - i * 1800
    releases.push(await watched.measure(() => page.locator('.slider').fill(`${at - (at % 60)}`)))
    await watched.measure(() => page.keyboard.press('L'))
  }
  const ms = releases.map((one) => one.ms)
  const most = Math.max(...releases.map(({ count }) => count))
  console.log(
    `release: p50 ${Math.round(percentile(ms, 0.5))} ms, p95 ${Math.round(percentile(ms, 0.95))} ms, at most ${most} requests`,
  )
  await browser.close()
  await api.stop()
} finally {
  await stack.close()
}
