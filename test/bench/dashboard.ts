// What the page costs its readers: bytes of the first load, the time from the data to the first picture, the time from a move
// of the pointer to the frame that follows it, and requests while the slider moves and after it. The built page in Chromium
// without a GPU, over made-up answers for 50 stables and 288 buckets, so that nothing of the service is measured with it.
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Page, Route } from 'playwright-core'
import { randomFor } from '../../local/chain/random.js'
import { openBrowser } from '../support/browser.js'
import { stableAddress } from '../support/rows.js'
import { percentile } from './measure.js'

const STABLES = 50
const BUCKETS = 288
const STEP = 300
const LOADS = 7
const MOVES = 300
const ORIGIN = 'http://plumbline.test'
const FOLDER = fileURLToPath(new URL('../../dashboard', import.meta.url))
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
const seconds = (): number => Math.floor(Date.now() / 1000)
const addresses = Array.from({ length: STABLES }, (_, i) => stableAddress(i + 1))
const complete = { status: 'complete', message: 'Quoted on the DEX.' }

/** In a third of the buckets the price moves, by ticks of the exchange (a tenth of a basis point). */
const MOVING_SHARE = 1 / 3

/** What a stable's price walks, in basis points, with a break and a time without a quote here and there. */
function walk(stable: number): (number | null)[] {
  const random = randomFor(1, 'walk', stable)
  let ticks = 0
  return Array.from({ length: BUCKETS }, (_, bucket) => {
    if (random.chance(MOVING_SHARE)) ticks = Math.max(-80, Math.min(80, ticks + random.int(-15, 15)))
    if (stable % 9 === 4 && bucket % 97 < 12) return null
    return (ticks - (stable % 6 === 3 && bucket % 120 < 25 ? 800 : 0)) / 10
  })
}

/** The columns of a stable: each bucket begins where the one before it ended. */
function columnsOf(stable: number) {
  const last_bps = walk(stable)
  const between = (pick: (...values: number[]) => number) =>
    last_bps.map((last, i) => last && pick(last, last_bps[i - 1] ?? last))
  const unquoted_share = last_bps.map((value) => (value === null ? 1 : 0))
  return { low_bps: between(Math.min), high_bps: between(Math.max), last_bps, unquoted_share }
}

function series(query: URLSearchParams): object {
  const [from, to] = [Number(query.get('from')), Number(query.get('to'))]
  return {
    ...{ from: iso(from), to: iso(to), step_seconds: STEP, bucket_count: BUCKETS, coverage: complete },
    stables: addresses.map((address, i) => ({ address, symbol: `S${i}USD`, ...columnsOf(i) })),
  }
}

const list = () => ({
  stablecoins: addresses.map((address, i) => ({
    ...{ address, symbol: `S${i}USD`, name: `Stable ${i}`, currency: 'USD', coverage: complete },
    peg: { price: 1 + i / 1e6, quoted: true, block_number: 1, sampled_at: iso(seconds()).replace('T', ' ') },
    quote: { quoted: true, unquoted_since: null },
    supply: { current: `${i}000000000`, cap: null },
    ...{ tracked: true, max_deviation_24h_bps: 5, risk_score: 10, open_break: null },
  })),
})

function answerOf(path: string, query: URLSearchParams): object | null {
  if (path.endsWith('/peg/series')) return series(query)
  if (path.endsWith('/stablecoins')) return list()
  if (path.endsWith('/events')) return { events: [] }
  if (path.endsWith('/status'))
    return { at: iso(seconds()), newest_block: { block_number: 1440, block_time: iso(seconds() - 20) } }
  return null
}

async function serve(route: Route): Promise<void> {
  const { pathname, searchParams } = new URL(route.request().url())
  const answer = answerOf(pathname, searchParams)
  if (answer) return route.fulfill({ json: answer })
  if (pathname.endsWith('/stream'))
    return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 3600000\n\n' })
  const file = pathname.startsWith('/assets/') ? pathname : 'index.html'
  await route.fulfill({ contentType: TYPES[extname(file)] ?? 'text/html', body: await readFile(join(FOLDER, file)) })
}

/** Bytes of gzip of the files that the first page needs, and of those that are loaded later. */
async function sizes(): Promise<{ first: number; later: number; data: number }> {
  const html = await readFile(join(FOLDER, 'index.html'), 'utf8')
  const total = { first: gzipSync(html, { level: 9 }).length, later: 0, data: 0 }
  for (const file of await readdir(join(FOLDER, 'assets'))) {
    // Nor the preview, which no browser loads.
    if (/\.(?:br|gz|png)$/.test(file)) continue
    const { length } = await readFile(join(FOLDER, 'assets', `${file}.gz`))
    total[html.includes(file) ? 'first' : 'later'] += length
  }
  const query = new URLSearchParams({ from: '0', to: `${BUCKETS * STEP}` })
  total.data = gzipSync(JSON.stringify(series(query))).length + gzipSync(JSON.stringify(list())).length
  return total
}

const isPainted = `performance.getEntriesByName('board-history').length > 0`

/** Opens the board, and returns the milliseconds from the last byte of its data to its first whole picture. */
async function firstPicture(page: Page): Promise<number> {
  await page.goto(`${ORIGIN}/`)
  while (!(await page.evaluate(isPainted))) await page.waitForTimeout(20)
  return page.evaluate(`(() => {
    const [painted] = performance.getEntriesByName('board-history')
    const data = performance.getEntriesByType('resource').filter(({ name }) => /stablecoins$|peg.series/.test(name))
    return painted.startTime - Math.max(...data.map(({ responseEnd }) => responseEnd))
  })()`)
}

/** Milliseconds from each move of the pointer to the end of the frame that shows it. */
async function hover(page: Page): Promise<number[]> {
  await page.evaluate(`(() => {
    window.followed = []
    addEventListener('pointermove', ({ timeStamp }) => requestAnimationFrame(() => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => window.followed.push(performance.now() - timeStamp)
      channel.port2.postMessage(0)
    }), true)
  })()`)
  const box = await page.locator('.stage .over').boundingBox()
  if (!box) throw new Error('the picture is not shown')
  for (let i = 0; i < MOVES; i++) {
    const [x, y] = [0.1 + 0.85 * ((i * 7) % MOVES) * (1 / MOVES), 0.25 + 0.6 * ((i * 3) % MOVES) * (1 / MOVES)]
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height)
    await page.waitForTimeout(5)
  }
  return page.evaluate('window.followed')
}

const browser = await openBrowser()
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
await context.route('**/*', serve)
const bytes = await sizes()
console.log(
  `first load: ${(bytes.first / 1024).toFixed(1)} KB of gzip; views and files on demand: ${(bytes.later / 1024).toFixed(1)} KB`,
)
console.log(`data of the board, made up: ${(bytes.data / 1024).toFixed(1)} KB of gzip`)

const pictures: number[] = []
for (let i = 0; i < LOADS; i++) {
  const page = await context.newPage()
  pictures.push(await firstPicture(page))
  await page.close()
}
console.log(
  `first picture after the data: ${Math.round(percentile(pictures, 0.5))} ms, at most ${Math.round(Math.max(...pictures))} ms`,
)

const page = await context.newPage()
await firstPicture(page)
await page.waitForTimeout(1000)
const followed = await hover(page)
console.log(
  `pointer: ${followed.length} moves, p50 ${Math.round(percentile(followed, 0.5))} ms, p95 ${Math.round(percentile(followed, 0.95))} ms`,
)

let requests: string[] = []
page.on('request', (request) => !/status$/.test(request.url()) && requests.push(request.url()))
const slider = await page.locator('.slider').boundingBox()
if (!slider) throw new Error('there is no slider')
const x = slider.x + slider.width / 2
await page.mouse.move(x, slider.y + slider.height - 8)
await page.mouse.down()
await page.mouse.move(x, slider.y + 60, { steps: 100 })
const whileMoving = requests.length
requests = []
await page.mouse.up()
await page.waitForTimeout(2000)
console.log(`slider: ${whileMoving} requests while it moved, ${requests.length} after it was let go`)
await browser.close()
