import { axisTicks } from '../parts/axis.js'
import { bpsText } from '../parts/figures.js'
import type { Colour, Rects, Surface } from '../parts/surface.js'
import { colourOf } from './paint-lines.js'
import { bucketOf, farthestOf, type Lane, type Picture, standingAt } from './picture.js'
import { bandOf, MILD_BPS, SEVERE_BPS } from './stables.js'

/** Where the rows are, in pixels. */
export type RowsLayout = {
  left: number
  right: number
  top: number
  rowHeight: number
  width: number
  /** The right ends of the figures at the end of a row; phones have no room for the farthest of the picture. */
  figures: { at: number; farthest: number | null }
}

/** The bands of a horizon row: a deviation fills one after the other, each drawn over the one before; grey if it stays in the first. */
const BANDS = [
  { from: 0, to: MILD_BPS, opacity: 0.3 },
  { from: MILD_BPS, to: SEVERE_BPS, opacity: 0.45 },
  { from: SEVERE_BPS, to: 250, opacity: 0.9 },
]
const AXIS_HEIGHT = 24
/** As high as what fingers can hit: the names are links. */
const LOWEST_ROW = 24
const HIGHEST_ROW = 34
const GAP = 2
/** The width of a figure at the end of a row. */
const FIGURE = 48

/** The layout of so many rows in a frame; the rows may need more than its height. */
export function layoutRows(width: number, height: number, count: number): RowsLayout {
  const isNarrow = width < 560
  const room = (height - AXIS_HEIGHT) / Math.max(1, count)
  const rowHeight = isNarrow ? HIGHEST_ROW : Math.max(LOWEST_ROW, Math.min(HIGHEST_ROW, Math.floor(room)))
  const end = width - 4
  const figures = isNarrow ? { at: end, farthest: null } : { at: end - FIGURE - 12, farthest: end }
  return { left: isNarrow ? 92 : 132, right: figures.at - FIGURE + 4, top: AXIS_HEIGHT, rowHeight, width, figures }
}

export const heightOfRows = ({ top, rowHeight }: RowsLayout, count: number): number => top + count * rowHeight + 4

export const xOf = ({ left, right }: RowsLayout, { from, end }: Picture, at: number): number =>
  left + ((at - from) / (end - from)) * (right - left)

export const timeAtX = ({ left, right }: RowsLayout, { from, end }: Picture, x: number): number =>
  Math.max(from, Math.min(end, from + ((x - left) / (right - left)) * (end - from)))

type Fills = { hatch: Rects; dots: Rects; within: Rects; bands: Record<'above' | 'below', Rects>[] }

function addRow(fills: Fills, lane: Lane, picture: Picture, layout: RowsLayout, top: number): void {
  const { from, step, count } = picture
  const width = xOf(layout, picture, from + step) - layout.left
  const height = layout.rowHeight - GAP
  for (let i = 0; i < count && picture.hasHistory; i++) {
    const x = layout.left + i * width
    const bucket = bucketOf(picture, lane, i)
    if (bucket.is !== 'quoted') {
      const list = bucket.is === 'unquoted' ? fills.hatch : fills.dots
      list.push(x, top, width, height)
      continue
    }
    if (bucket.unquotedShare > 0) fills.hatch.push(x, top, width, Math.max(2, height * bucket.unquotedShare * 0.5))
    const furthest = Math.abs(bucket.low) > Math.abs(bucket.high) ? bucket.low : bucket.high
    const side = furthest > 0 ? 'above' : 'below'
    BANDS.forEach((band, level) => {
      const share = Math.min(1, (Math.abs(furthest) - band.from) / (band.to - band.from))
      if (share <= 0) return
      const bar = Math.max(1, share * height)
      const list = bandOf(furthest) === 0 ? fills.within : fills.bands[level]?.[side]
      list?.push(x, top + height - bar, width + 0.2, bar)
    })
  }
}

/** Paints all that does not move. */
export function paintRows(surface: Surface, picture: Picture, layout: RowsLayout): void {
  const bottom = heightOfRows(layout, picture.lanes.length)
  for (const { at, text, isDay } of axisTicks(picture.from, picture.end, layout.right - layout.left)) {
    const x = xOf(layout, picture, at)
    surface.line(x, layout.top - 4, x, bottom, 'line', isDay ? 1 : 0.5)
    surface.text(text, x, layout.top - 9, {
      colour: isDay ? 'ink' : 'quiet',
      size: 11,
      align: 'middle',
      isBold: isDay,
    })
  }
  const fills: Fills = { hatch: [], dots: [], within: [], bands: BANDS.map(() => ({ above: [], below: [] })) }
  const floors: Rects = []
  picture.lanes.forEach((lane, i) => {
    const top = layout.top + i * layout.rowHeight
    floors.push(layout.left, top + layout.rowHeight - GAP, layout.right - layout.left, 0.75)
    addRow(fills, lane, picture, layout, top)
  })
  surface.pattern(fills.dots, 'dots')
  surface.rects(fills.within, 'quiet', BANDS[0]?.opacity)
  BANDS.forEach(({ opacity }, level) => {
    for (const side of ['below', 'above'] as const) surface.rects(fills.bands[level]?.[side] ?? [], side, opacity)
  })
  surface.pattern(fills.hatch, 'hatch')
  surface.rects(floors, 'guide')
}

/** Paints the figure of each stable at an instant, at the end of its row, and the farthest of the picture. */
export function paintRowFigures(surface: Surface, picture: Picture, layout: RowsLayout, at: number): void {
  const x = xOf(layout, picture, at)
  if (at < picture.end) surface.line(x, layout.top, x, heightOfRows(layout, picture.lanes.length), 'ink', 1)
  const { figures } = layout
  const titled = { colour: 'quiet', size: 11, align: 'end' } as const
  surface.text('bps', figures.at, layout.top - 9, titled)
  if (figures.farthest !== null) surface.text('farthest', figures.farthest, layout.top - 9, titled)
  picture.lanes.forEach((lane, i) => {
    const standing = at >= picture.end ? lane.now : standingAt(picture, lane, at)
    const isQuoted = standing.is === 'quoted'
    const text = isQuoted ? bpsText(standing.bps) : standing.is === 'unquoted' ? 'none' : '–'
    const colour: Colour = isQuoted ? colourOf(standing.bps) : 'quiet'
    const y = layout.top + i * layout.rowHeight + layout.rowHeight / 2 + 3
    surface.text(text, figures.at, y, {
      colour,
      size: 12,
      align: 'end',
      isBold: isQuoted && bandOf(standing.bps) > 0,
    })
    if (figures.farthest === null) return
    const far = picture.hasHistory ? farthestOf(lane) : null
    surface.text(far === null ? '–' : bpsText(far), figures.farthest, y, {
      colour: far === null || bandOf(far) === 0 ? 'quiet' : colourOf(far),
      size: 12,
      align: 'end',
    })
  })
}
