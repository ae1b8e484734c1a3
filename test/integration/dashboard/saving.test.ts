import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { insertFacts } from '../../../clickhouse/facts/facts.js'
import { snapshotRisk } from '../../../jobs/snapshot/risk.js'
import { test } from '../../support/dashboard.js'
import {
  addBlocks,
  addFacts,
  flow,
  pegSamples,
  stableAddress,
  stablecoin,
  stateRead,
  supplyEvent,
} from '../../support/rows.js'
import { slotAt } from '../../support/slots.js'

const MINUTE = 60
/** Of 1000 tokens that get 999, when the price is 1.00025. */
const SLIPPAGE = 12.496875781054737
const STABLE = stableAddress(1)
const HOSTILE = '\u202eDSU<img src=x>'
const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** The files that the menu of a figure saves. */
async function saved(page: Page, of: string): Promise<Record<'PNG' | 'SVG' | 'CSV', string>> {
  const files = { PNG: '', SVG: '', CSV: '' }
  for (const kind of ['PNG', 'SVG', 'CSV'] as const) {
    const menu = page.locator('details.menu', { has: page.getByLabel(`Save ${of}`, { exact: true }) })
    await menu.locator('summary').click()
    const [file] = await Promise.all([page.waitForEvent('download'), menu.getByRole('button', { name: kind }).click()])
    expect(file.suggestedFilename()).toMatch(new RegExp(`^plumbline-[\\w-]+Z\\.${kind.toLowerCase()}$`))
    files[kind] = await readFile(await file.path(), kind === 'PNG' ? 'latin1' : 'utf8')
  }
  return files
}

const lines = (csv: string): string[] => csv.trimEnd().split('\r\n')

test('every figure of a stable and of the flows is saved with its numbers', async ({ clickhouse, clock, visit }) => {
  const { page, origin, complaints } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const hour = Math.floor(now / 3600) * 3600
  const start = hour - 2 * 3600
  const times = Array.from({ length: 120 }, (_, i) => start + (i + 1) * MINUTE)
  const lost = { from: start + 40 * MINUTE, to: start + 50 * MINUTE }
  await addBlocks(clickhouse, [...times, now - 1])
  await addFacts(clickhouse, {
    stablecoins: [stablecoin(1, { symbol: HOSTILE, block_time: start }), stablecoin(2, { block_time: start })],
    samples: [1, 2].flatMap((i) =>
      pegSamples(
        stableAddress(i),
        times.map((at) => ({ at, price: at > lost.from && at <= lost.to ? 'no_liquidity' : 1_000_250 })),
      ),
    ),
    states: [stateRead(STABLE, { block_number: 1, block_time: start + MINUTE, supply_raw: '5000000' })],
    supplyEvents: [supplyEvent(STABLE, { block_number: 90, block_time: start + 90 * MINUTE, amount_raw: '7000000' })],
    flows: [flow(1, 2, start + 100 * MINUTE, { block_number: 100, usd_micros: '1234000000' })],
  })
  const quoted = { sell_status: 'quoted' as const, sell_raw: '999000000' }
  const unsold = { buy_status: 'no_liquidity' as const, buy_raw: null }
  const at = { block_number: 70, block_time: start + 70 * MINUTE }
  await insertFacts(
    clickhouse,
    'depth_samples',
    [{ stable: STABLE, size_tokens: 1000, ...at, ...quoted, ...unsold }],
    'd',
  )
  await snapshotRisk(clickhouse, slotAt('risk', hour))

  const asOf = iso(hour + 1)
  await page.setViewportSize({ width: 1280, height: 4000 })
  await page.goto(`${origin}/s/${STABLE}?w=6h&as_of=${asOf}`)
  await page.getByLabel('Save risk').waitFor()
  for (const of of ['price', 'depth', 'supply', 'risk']) {
    const { PNG, SVG, CSV } = await saved(page, of)
    expect(PNG.slice(1, 4)).toBe('PNG')
    expect(SVG).toContain(`<title>Plumbline: DSU&lt;img src…, `)
    expect(SVG).not.toContain('<img')
    expect(SVG).toContain(`as of ${asOf.replace('T', ' ').replace('Z', ' UTC')}`)
    const rows = lines(CSV)
    const bucket = (minutes: number): string =>
      `${iso(start + minutes * MINUTE)},${iso(start + (minutes + 5) * MINUTE)}`
    if (of === 'price') {
      expect(SVG).toMatch(/<polyline [^>]*stroke-width="1.5"/)
      expect(rows).toContain(`${STABLE},"DSU<img src=x>",${bucket(20)},2.5,2.5,2.5,0`)
      expect(rows).toContain(`${STABLE},"DSU<img src=x>",${bucket(40)},,,,1`)
    } else if (of === 'depth') {
      expect(SVG).toContain('Selling')
      expect(rows.slice(1)).toEqual([
        `${STABLE},${bucket(65)},sell,1000,${SLIPPAGE}`,
        `${STABLE},${bucket(65)},buy,1000,`,
      ])
    } else if (of === 'supply') {
      expect(rows.find((row) => row.startsWith(`${STABLE},${bucket(85)}`))).toMatch(/,7000000,0$/)
    } else {
      expect(SVG).toContain('Composite')
      expect(rows.map((row) => row.split(',')[3])).toEqual([
        'component',
        'composite',
        'peg_risk',
        'peg_break_risk',
        'supply_risk',
        'policy_risk',
      ])
      expect(rows[1]).toMatch(new RegExp(`^${STABLE},${iso(hour)},`))
    }
  }

  await page.goto(`${origin}/flows?hours=6&as_of=${asOf}`)
  await page.locator('.matrix').waitFor()
  const circle = await saved(page, 'circle')
  expect(circle.PNG.slice(1, 4)).toBe('PNG')
  expect(circle.SVG).toMatch(/<polygon [^>]*fill-opacity="0.6"/)
  expect(circle.SVG).toContain('DSU&lt;img src…')
  await page.getByLabel('Look at').selectOption({ index: 1 })
  expect(
    await page
      .locator('.panel', { has: page.locator('.chord') })
      .locator('.readout-line')
      .innerText(),
  ).toBe('DSU<img src…: $1.23k out, $0 in.')
  const { PNG, SVG, CSV } = await saved(page, 'flows')
  expect(circle.CSV).toBe(CSV)
  expect(PNG.slice(1, 4)).toBe('PNG')
  expect(SVG).toContain('>1.23k</text>')
  expect(lines(CSV)[1]).toBe(`${STABLE},"DSU<img src=x>",${stableAddress(2)},${stablecoin(2).symbol},1234.000000,1,0,6`)
  expect(complaints).toEqual([])
})
