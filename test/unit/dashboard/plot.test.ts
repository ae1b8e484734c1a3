import { expect, test } from 'vitest'
import type { Palette } from '../../../dashboard/parts/surface.js'
import { svgSurface } from '../../../dashboard/parts/svg-surface.js'
import {
  boxOf,
  indexAt,
  type Plotted,
  paintPlot,
  plotX,
  valueTicks,
} from '../../../dashboard/views/parts/plot-picture.js'

const FROM = Date.UTC(2026, 6, 1) / 1000
const PALETTE = new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Palette

const plotted = (line: readonly (number | null)[], changes: Partial<Plotted> = {}): Plotted => ({
  from: FROM,
  to: FROM + 600,
  low: -10,
  high: 10,
  times: line.map((_, i) => FROM + 60 * (i + 1)),
  line,
  left: String,
  ...changes,
})

function drawn(plot: Plotted): string {
  const { surface, document } = svgSurface(600, 200, PALETTE)
  paintPlot(plot, 600, 200, surface)
  return document('a plot')
}

test('nothing is drawn across a value that is missing, and a value alone is a dot', () => {
  const svg = drawn(plotted([1, 2, null, 3, null, 4, 5, 6]))
  const lines = [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points]) => points?.split(' ').length)
  expect(lines).toEqual([4, 6])
  expect(svg.match(/<path d="M[^"]*z" fill="#ink"/g)).toHaveLength(1)
  const column = [1, 2, null, 3]
  const { times } = plotted(column)
  const band = drawn(plotted([], { times, band: { low: column, high: column, step: 60 } }))
  const box = boxOf(plotted([]), 600, 200)
  const path = /<path d="([^"]*)" fill="#above"/.exec(band)?.[1] ?? ''
  const bars = [...path.matchAll(/M([\d.]+) [\d.]+h([\d.]+)/g)].map(([, ...numbers]) => numbers.map(Number))
  // A bar is as wide as its bucket, which ends at the time of its value; there is none for what is missing.
  const spans = [0, 60, 180].map((from) => [plotX(plotted([]), box, FROM + from), box.width / 10])
  expect(bars).toEqual(
    spans.map(([left, width]) => [expect.closeTo(left as number, 1), expect.closeTo(width as number, 1)]),
  )
})

test('ticks are round numbers within the bounds, digit for digit', () => {
  expect(valueTicks(-12, 12, 240)).toEqual([-10, -5, 0, 5, 10])
  expect(valueTicks(0, 0.7, 300)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
  expect(valueTicks(999_000, 1_001_000, 90)).toEqual([999_000, 1_000_000, 1_001_000])
  expect(valueTicks(5, 5, 100)).toEqual([])
})

test('the value nearest to the pointer is looked at', () => {
  const plot = plotted([1, 2, 3])
  const box = boxOf(plot, 600, 200)
  const x = (seconds: number): number => plotX(plot, box, FROM + seconds)
  expect([0, 60, 89, 91, 180, 600].map((seconds) => indexAt(plot, box, x(seconds)))).toEqual([0, 0, 0, 1, 2, 2])
  expect(indexAt(plotted([]), box, 100)).toBe(null)
})
