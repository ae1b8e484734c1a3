import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { insertFacts } from '../../../clickhouse/facts/facts.js'
import { loadWhole, test } from '../../support/dashboard.js'
import { PEG_EVENTS_JOB } from '../../support/peg-events.js'
import {
  addBlocks,
  addFacts,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  supplyEvent,
  tokenList,
} from '../../support/rows.js'
import { runPass, slotsOf } from '../../support/slots.js'

const MINUTES = 60
const SIZES = [1000, 10_000, 100_000, 1_000_000]
const STABLE = stableAddress(1)
/** Basis points of slippage, one in each shade of the picture, and how dark that shade is. */
const SLIPPAGES = [0.4, 3.2, 7.7, 24.6, 103.3, 450.9]
const SHADES = [0.1, 0.25, 0.42, 0.6, 0.8, 1]

type Quote = { bps: number; shade: number } | 'no quote' | 'no sample'

/** What a side of the market is at a size, the given number of minutes before the end. */
function quoteAt(ago: number, size: number, side: 'sell' | 'buy'): Quote {
  if (ago % 10 === 4) return 'no sample'
  const turn = ago * 7 + size * 3 + (side === 'buy' ? 5 : 0)
  if (turn % 8 === 6) return 'no quote'
  const shade = turn % SLIPPAGES.length
  return { bps: SLIPPAGES[shade] as number, shade: SHADES[shade] as number }
}

const wordsOf = (quote: Quote): string => (typeof quote === 'string' ? quote : quote.bps.toFixed(1))
const timeText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

const panel = (page: Page, title: string) =>
  page.locator('.panel', { has: page.getByRole('heading', { name: title, exact: true }) })
const tableOf = (page: Page, title: string): Promise<string[][]> =>
  panel(page, title)
    .locator('.behind tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...(row as unknown as { cells: { textContent: string }[] }).cells].map((cell) => cell.textContent),
      ),
    )

/** The pixels of a canvas around a point: whether all are the same, and how opaque they are on average, 0 to 1. */
const pixelsAt = (page: Page, canvas: string, x: number, y: number): Promise<{ isEven: boolean; opacity: number }> =>
  page.evaluate(`(() => {
    const { data } = document.querySelector(${JSON.stringify(canvas)}).getContext('2d').getImageData(${Math.round(x) - 5}, ${Math.round(y) - 5}, 11, 11)
    const pixels = Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 4).join())
    const alphas = Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3])
    return { isEven: new Set(pixels).size === 1, opacity: alphas.reduce((sum, one) => sum + one, 0) / alphas.length / 255 }
  })()`)

test('depth and supply are shown as they were measured, in the picture and in the table behind it', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page, complaints } = visit
  const end = Math.floor(clock.now.getTime() / 60_000) * 60 - 300
  const times = Array.from({ length: MINUTES + 4 }, (_, i) => end + (i - MINUTES + 1) * 60 - 60)
  const at = (ago: number) => ({ block_time: end - ago * 60, block_number: times.indexOf(end - ago * 60) + 1 })
  const agos = Array.from({ length: MINUTES }, (_, i) => MINUTES - 1 - i)
  const price = (ago: number): number => 1_000_000 + ago * 10
  await addBlocks(clickhouse, times)
  // The supply is first read forty minutes before the end; it is an odd number of base units, which nothing may round.
  const supplyAt = (ago: number): bigint | null =>
    ago > 40 ? null : 1_234_567_000_001n + BigInt(40 - ago) * 5_000_000n
  const minted = (ago: number): bigint => (ago % 6 === 0 ? 7_000_000n * BigInt(ago + 1) + 1n : 0n)
  const burned = (ago: number): bigint => (ago % 9 === 5 ? 3_500_000n : 0n)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { block_time: times[0] as number })],
    lists: [tokenList()],
    samples: pegSamples(
      STABLE,
      agos.map((ago) => ({ at: end - ago * 60, price: price(ago) })),
      at(MINUTES - 1).block_number,
    ),
    states: agos.flatMap((ago) => {
      const supply = supplyAt(ago)
      return supply === null
        ? []
        : [stateRead(STABLE, { ...at(ago), supply_raw: String(supply), cap_raw: '9000000000001' })]
    }),
    supplyEvents: agos.flatMap((ago) => [
      // In two parts, which have to be added up.
      ...(minted(ago) > 0n
        ? [1n, minted(ago) - 1n].map((raw, log_index) =>
            supplyEvent(STABLE, { ...at(ago), log_index, amount_raw: String(raw) }),
          )
        : []),
      ...(burned(ago) > 0n
        ? [supplyEvent(STABLE, { ...at(ago), kind: 'burn', log_index: 9, amount_raw: String(burned(ago)) })]
        : []),
    ]),
  })
  const rawOf = (ago: number, size: number, side: 'sell' | 'buy'): string | null => {
    const quote = quoteAt(ago, size, side)
    if (typeof quote === 'string') return null
    const one = side === 'sell' ? price(ago) : price(ago) + 100
    const worse = 1 + ((side === 'sell' ? -1 : 1) * quote.bps) / 10_000
    return String(Math.round((SIZES[size] as number) * one * worse))
  }
  const statusOf = (raw: string | null) => (raw === null ? ('no_liquidity' as const) : ('quoted' as const))
  const depths = agos
    .filter((ago) => quoteAt(ago, 0, 'sell') !== 'no sample')
    .flatMap((ago) =>
      SIZES.map((size_tokens, size) => {
        const [sell_raw, buy_raw] = [rawOf(ago, size, 'sell'), rawOf(ago, size, 'buy')]
        const statuses = { sell_status: statusOf(sell_raw), buy_status: statusOf(buy_raw) }
        return { stable: STABLE, size_tokens, ...at(ago), ...statuses, sell_raw, buy_raw }
      }),
    )
  await insertFacts(clickhouse, 'depth_samples', depths, 'depths')

  await page.goto(`${origin}/s/${STABLE}?w=1h&as_of=${end}`)
  await page.locator('.stable-head').waitFor()
  await loadWhole(page)
  await page.locator('.heat canvas').waitFor()

  const sides = ['sell', 'buy'] as const
  expect(await tableOf(page, 'Depth')).toEqual(
    agos
      .toReversed()
      .map((ago) => [
        timeText(end - ago * 60),
        ...sides.flatMap((side) => SIZES.map((_, size) => wordsOf(quoteAt(ago, size, side)))),
      ]),
  )
  const supplies = await tableOf(page, 'Supply')
  const rawText = (text: string): bigint | null => {
    const [whole = '', rest = ''] = text.replaceAll('\u2009', '').split('.')
    return text === '–' ? null : BigInt(whole + rest.padEnd(6, '0'))
  }
  expect(
    supplies.map(([when, supply = '', , mint = '', burn = '']) => [when, ...[supply, mint, burn].map(rawText)]),
  ).toEqual(agos.toReversed().map((ago) => [timeText(end - ago * 60), supplyAt(ago), minted(ago), burned(ago)]))
  expect(supplies[0]?.[2]).toBe('9\u2009000\u2009000.000001')

  // The picture of the depth: what the pointer is told, and what is painted there.
  const heat = await page.locator('.heat canvas').boundingBox()
  if (!heat) throw new Error('the picture is shown')
  const seen = new Set<string>()
  await page.locator('.heat').scrollIntoViewIfNeeded()
  for (let row = 0; row < 2 * SIZES.length; row++)
    for (const ago of [4, 17, 30, 42]) {
      const [side, size] =
        row < SIZES.length ? (['sell', SIZES.length - 1 - row] as const) : (['buy', row - SIZES.length] as const)
      // A title above each side, rows of 20 pixels, and numbers to the left.
      const y = 20 + 20 * row + 10 + (side === 'buy' ? 30 : 0)
      const x = 52 + (heat.width - 52) * (1 - (ago + 0.5) / MINUTES)
      await page.locator('.heat canvas').hover({ position: { x, y } })
      const quote = quoteAt(ago, size, side)
      const what = `${timeText(end - ago * 60)}: ${side === 'sell' ? 'selling' : 'buying'} ${['1k', '10k', '100k', '1M'][size]}: ${wordsOf(quote)}`
      expect(await panel(page, 'Depth').locator('.readout-line').innerText()).toBe(
        typeof quote === 'string' ? what : `${what} bps of slippage`,
      )
      const { isEven, opacity } = await pixelsAt(page, '.heat canvas', x, y)
      // No quote and no sample are patterns, which are neither a shade nor empty.
      if (typeof quote === 'string') expect([what, isEven, opacity > 0 && opacity < 0.6]).toEqual([what, false, true])
      else expect([what, isEven, Math.round(100 * opacity)]).toEqual([what, true, Math.round(100 * quote.shade)])
      seen.add(typeof quote === 'string' ? quote : String(quote.shade))
    }
  expect(seen.size).toBe(SHADES.length + 2)

  // Nothing is drawn of the supply before it was read, and bars only where there were mints and burns.
  const inkOf = (canvas: number, from: number, to: number): Promise<number> =>
    page.evaluate(`(() => {
      const canvas = document.querySelectorAll('.plot canvas[role=img]')[${canvas}]
      // Between the numbers on the left and the margin on the right.
      const x = (ago) => Math.round(56 + (canvas.width - 64) * (1 - ago / ${MINUTES}))
      const { data } = canvas.getContext('2d').getImageData(x(${from}), 4, x(${to}) - x(${from}), canvas.height - 34)
      let ink = 0
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && Math.max(data[i], data[i + 1], data[i + 2]) < 60) ink++
      return ink
    })()`)
  expect(await inkOf(1, 58, 44)).toBe(0)
  expect(await inkOf(1, 36, 4)).toBeGreaterThan(100)
  expect(complaints).toEqual([])
})

test('the keys of a stable open its tables and lead to the break before', async ({ clickhouse, clock, visit }) => {
  const { origin, page } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const times = Array.from({ length: 180 }, (_, i) => now - (179 - i) * 60)
  await addBlocks(clickhouse, times)
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1)],
    lists: [tokenList()],
    samples: pegSamples(
      STABLE,
      times.map((at, i) => ({ at, price: i > 60 && i < 90 ? 997_000 : 1_000_000 })),
    ),
  })

  await runPass(clickhouse, PEG_EVENTS_JOB, slotsOf(PEG_EVENTS_JOB, now - 180 * 60, now))
  await page.goto(`${origin}/s/${STABLE}?w=1h`)
  await panel(page, 'Breaks').locator('tbody tr').waitFor()
  // A table that came between two presses would be closed while the others are open.
  for (const title of ['Price', 'Supply']) await panel(page, title).locator('.behind').waitFor()
  await page.keyboard.press('t')
  await panel(page, 'Price').locator('.behind tbody tr').first().waitFor()
  await page.keyboard.press('t')
  await panel(page, 'Price').locator('.behind tbody tr').first().waitFor({ state: 'hidden' })
  await page.keyboard.press('[')
  await page.waitForURL(/as_of=/)
  const moment = Date.parse(new URL(page.url()).searchParams.get('as_of') ?? '') / 1000
  const [started, ended] = [times[61] as number, times[90] as number]
  expect(moment).toBeGreaterThanOrEqual(started)
  expect(moment).toBeLessThan(ended + 1800)
  await page.keyboard.press('L')
  await expect.poll(() => page.url()).toBe(`${origin}/s/${STABLE}?w=1h`)
})
