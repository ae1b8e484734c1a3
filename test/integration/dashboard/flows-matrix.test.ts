import { expect } from 'vitest'
import { randomFor } from '../../../local/chain/random.js'
import { test } from '../../support/dashboard.js'
import { addBlocks, addFacts, flow, stablecoin, tokenList, txHash } from '../../support/rows.js'

const STABLES = 50
const FLOWS = 900

/** A number of the page, 412, 1.25k or 3.4M. */
const numberOf = (text: string): number => {
  const unit = { k: 1e3, M: 1e6, B: 1e9 }[text.at(-1) ?? ''] ?? 1
  return Number.parseFloat(text) * unit
}

test('a matrix of fifty stables has the sums of their flows, and their names stay beside the numbers', async ({
  clickhouse,
  clock,
  visit,
}) => {
  const { origin, page, complaints } = visit
  const now = Math.floor(clock.now.getTime() / 1000)
  const random = randomFor(50, 'matrix')
  const times = Array.from({ length: 25 * 60 }, (_, i) => now - (25 * 60 - 1 - i) * 60)
  await addBlocks(clickhouse, times)
  /** Millionths of a dollar and transactions by pair, added up from the same flows. */
  const sums = new Map<string, { micros: bigint; count: number }>()
  const flows = Array.from({ length: FLOWS }, (_, i) => {
    const from = random.int(1, STABLES)
    const to = ((from + random.int(1, STABLES - 1) - 1) % STABLES) + 1
    const index = random.int(120, times.length - 10)
    const micros = BigInt(random.int(1, 5_000_000)) * 1000n
    const pair = `S${from} to S${to}`
    const { micros: before, count } = sums.get(pair) ?? { micros: 0n, count: 0 }
    sums.set(pair, { micros: before + micros, count: count + 1 })
    return flow(from, to, times[index] as number, {
      ...{ usd_micros: String(micros), amount_in_raw: String(micros), amount_out_raw: String(micros) },
      ...{ block_number: index + 1, log_index: i, tx_hash: txHash(1000 + i) },
    })
  })
  await addFacts(clickhouse, {
    stablecoins: Array.from({ length: STABLES }, (_, i) => stablecoin(i + 1)),
    lists: [tokenList()],
    flows,
  })
  await page.goto(`${origin}/flows`)
  await page.locator('.matrix').waitFor()
  const titles = await page
    .locator('.matrix td[title]')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')))
  const shown = new Map(
    titles.map((title) => {
      const [, pair = '', usd = '', count] = /^(.*): \$(\S+) in (\d+) transactions?$/.exec(title ?? '') ?? []
      return [pair, { usd: numberOf(usd), count: Number(count) }]
    }),
  )
  expect([...shown.keys()].toSorted()).toEqual([...sums.keys()].toSorted())
  for (const [pair, { micros, count }] of sums) {
    const usd = Number(micros) / 1e6
    expect([pair, shown.get(pair)?.count]).toEqual([pair, count])
    // Three digits are shown.
    expect(Math.abs((shown.get(pair)?.usd ?? 0) / usd - 1), pair).toBeLessThan(0.0051)
  }
  const total = [...sums.values()].reduce((sum, { micros }) => sum + Number(micros) / 1e6, 0)
  const summary = await page.locator('.readout-line').first().innerText()
  expect(summary).toContain(`over ${sums.size} pairs of stables`)
  expect(Math.abs(numberOf(summary.slice(1).split(' ')[0] ?? '') / total - 1)).toBeLessThan(0.0051)

  // Only the matrix scrolls, and a cell in its last corner still has both of its names.
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  const [row, column] = [page.locator('.matrix tbody th').last(), page.locator('.matrix thead th').last()]
  await page.locator('.matrix tbody tr:last-child td:last-child').scrollIntoViewIfNeeded()
  const [frame, rowBox, columnBox] = await Promise.all([
    page.locator('.scrolls.grid').boundingBox(),
    row.boundingBox(),
    column.boundingBox(),
  ])
  if (!frame || !rowBox || !columnBox) throw new Error('all are shown')
  expect(rowBox.x).toBeGreaterThanOrEqual(frame.x - 1)
  expect(columnBox.y).toBeGreaterThanOrEqual(frame.y - 1)
  // A column is hardly wider than its numbers.
  expect(columnBox.width).toBeLessThan(70)
  expect(complaints).toEqual([])
})
