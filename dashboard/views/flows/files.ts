import { csvText } from '../../parts/csv.js'
import { shortText } from '../../parts/figures.js'
import { plainText } from '../../parts/names.js'
import type { FigureFile } from '../../parts/save-figure.js'
import type { Rects, Surface } from '../../parts/surface.js'
import { now } from '../../state/clock.js'
import { place } from '../../state/location.js'
import { type Labels, labelText } from '../parts/stables.js'
import { circleOf, circleText, paintCircle } from './chord-picture.js'
import { type Edge, shadeOf } from './matrix.js'

/** The flows of an answer as they are shown. `order`: addresses, the largest first. */
export type ShownFlows = { hours: number; edges: readonly Edge[]; order: readonly string[]; labels: Labels }

const COLUMNS = [
  'from_address',
  'from_symbol',
  'to_address',
  'to_symbol',
  'volume_usd',
  'tx_count',
  'unvalued_count',
  'window_hours',
]
const LEFT = 130
const TOP = 110
const CELL = { width: 62, height: 24 }

/** The flows, a line per pair of stables. */
const csvOf = ({ edges, hours }: ShownFlows): string =>
  csvText(
    COLUMNS,
    edges.map(({ from_address, from, to_address, to, volume_usd, tx_count, unvalued_count }) => [
      from_address,
      plainText(from, 60),
      to_address,
      plainText(to, 60),
      volume_usd,
      tx_count,
      unvalued_count,
      hours,
    ]),
  )

function paintMatrix({ edges, order, labels }: ShownFlows, surface: Surface): void {
  const most = Math.max(0, ...edges.map(({ volume_usd }) => Number(volume_usd)))
  const indices = new Map(order.map((address, i) => [address, i]))
  const grid: Rects = []
  order.forEach((address, i) => {
    const text = labelText(labels, address)
    surface.text(text, LEFT - 10, TOP + i * CELL.height + 16, { colour: 'ink', size: 12, align: 'end' })
    const x = LEFT + (i + 0.5) * CELL.width + 4
    surface.text(text, x, TOP - 8, { colour: 'ink', size: 12, isTurned: true })
    grid.push(LEFT, TOP + (i + 1) * CELL.height - 1, order.length * CELL.width, 1)
  })
  surface.rects(grid, 'line')
  for (const { from_address, to_address, volume_usd, unvalued_count } of edges) {
    const [row, column] = [indices.get(from_address), indices.get(to_address)]
    if (row === undefined || column === undefined) continue
    const [left, top] = [LEFT + column * CELL.width, TOP + row * CELL.height]
    const usd = Number(volume_usd)
    surface.rects([left, top, CELL.width - 1, CELL.height - 1], 'above', shadeOf(usd, most) / 100)
    const text = `${shortText(usd)}${unvalued_count > 0 ? '*' : ''}`
    surface.text(text, left + CELL.width - 8, top + 16, { colour: 'ink', size: 12, align: 'end' })
  }
}

/** The matrix of the flows. */
export const matrixFile = (shown: ShownFlows): FigureFile => ({
  name: `flows-${shown.hours}h`,
  title: `flows of ${shown.hours} h`,
  note: 'US dollars from the stable of the row to the stable of the column; *: some of it had no value.',
  at: place.value.asOf ?? now(),
  width: Math.max(800, LEFT + shown.order.length * CELL.width + 12),
  height: TOP + shown.order.length * CELL.height + 12,
  paint: (surface) => paintMatrix(shown, surface),
  csv: () => csvOf(shown),
})

const CIRCLE = { width: 1000, height: 760 }

/** The circle of the largest flows; its numbers are those of all of them. */
export function circleFile(shown: ShownFlows): FigureFile {
  const circle = circleOf(shown.edges, shown.order, (address) => labelText(shown.labels, address))
  return {
    name: `flows-circle-${shown.hours}h`,
    title: `flows of ${shown.hours} h`,
    note: `${circleText(circle, null)} An arrow: where it went. US dollars.`,
    at: place.value.asOf ?? now(),
    ...CIRCLE,
    paint: (surface) => paintCircle(circle, null, CIRCLE.width, CIRCLE.height, surface),
    csv: () => csvOf(shown),
  }
}
