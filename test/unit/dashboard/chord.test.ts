import { expect, test } from 'vitest'
import type { Palette } from '../../../dashboard/parts/surface.js'
import { svgSurface } from '../../../dashboard/parts/svg-surface.js'
import { circleOf, circleText, paintCircle, placeAt } from '../../../dashboard/views/flows/chord-picture.js'

const PALETTE = new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Palette
const address = (i: number): string => `0x${String(i).padStart(40, '0')}`
const nameOf = (address: string): string => `S${Number(address.slice(2))}`
const edge = (from: number, to: number, usd: number) => ({
  from_address: address(from),
  to_address: address(to),
  volume_usd: `${usd}`,
})
const addresses = (count: number): string[] => Array.from({ length: count }, (_, i) => address(i))

test('stables beyond the fifteen largest share a place, and no dollar is lost or counted twice', () => {
  const edges = [edge(0, 1, 100), edge(1, 0, 40), edge(0, 17, 7), edge(18, 0, 5), edge(16, 17, 3)]
  const circle = circleOf(edges, addresses(19), nameOf)
  const { names, flows } = circle
  expect(names).toHaveLength(16)
  expect(names.at(-1)).toBe('the 4 others')
  expect([flows[0]?.[1], flows[1]?.[0], flows[0]?.[15], flows[15]?.[0], flows[15]?.[15]]).toEqual([100, 40, 7, 5, 3])
  expect(flows.flat().reduce((sum, value) => sum + value, 0)).toBe(155)
  expect(circleText(circle, 0)).toMatch(/: \$107 out, \$45 in\.$/)
  expect(circleText(circle, 15)).toBe('the 4 others: $5 out, $7 in.')
  // One stable keeps its name.
  expect(circleOf(edges, addresses(16), nameOf).names).toHaveLength(16)
})

test('each direction is a ribbon of its own within the picture, and nothing is drawn of nothing', () => {
  const circle = circleOf([edge(0, 1, 100), edge(1, 0, 40), edge(1, 2, 20)], addresses(3), nameOf)
  const { surface, document } = svgSurface(600, 480, PALETTE)
  paintCircle(circle, 1, 600, 480, surface)
  const svg = document('flows')
  expect(svg.match(/<polygon [^>]*fill="#below"/g)).toHaveLength(1)
  expect(svg.match(/<polygon [^>]*fill="#above"/g)).toHaveLength(2)
  expect(svg).not.toContain('NaN')
  const points = [...svg.matchAll(/points="([^"]*)"/g)].flatMap(([, list]) => list?.split(' ').map(Number) ?? [])
  expect(Math.min(...points)).toBeGreaterThan(0)
  expect(Math.max(...points)).toBeLessThan(600)
  expect(placeAt(circle, 600, 480, 300, 240)).toBe(null)
  expect(placeAt(circle, 600, 480, 460, 200)).toBe(0)
  const empty = svgSurface(600, 480, PALETTE)
  paintCircle(circleOf([edge(0, 1, 0)], addresses(2), nameOf), null, 600, 480, empty.surface)
  expect(empty.document('none')).not.toMatch(/polygon|NaN/)
})
