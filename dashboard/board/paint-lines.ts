import { axisTicks } from '../parts/axis.js'
import { bpsText } from '../parts/figures.js'
import type { Rects, Surface } from '../parts/surface.js'
import type { Scale } from '../state/place.js'
import { bucketOf, farthestOf, type Lane, type Picture, standingAt } from './picture.js'
import { distanceScale } from './scale.js'
import { bandOf, MILD_BPS, SEVERE_BPS, type Standing } from './stables.js'

/** Where the strings hang, in pixels. */
export type LinesLayout = {
  width: number
  /** The beam. */
  top: number
  /** Where the bobs are: the end of the picture's time. */
  bottom: number
  /** Of the first lane. */
  left: number
  laneWidth: number
  /** Extra space behind the pinned lanes. */
  pinGap: number
  pinned: number
  /** From a lane's middle to 50 bps. */
  reach: number
}

const AXIS_WIDTH = 72
const WIDEST_LANE = 132
const LONGEST_REACH = 44
const PIN_GAP = 14
/** Room below the beam's strings for the bobs and their figures. */
export const FOOT = 60
/** Lanes that are narrower have shorter and smaller figures. */
const NARROW_LANE = 34
/** A string without any deviation is as thick as this. */
const THINNEST = 1.5
/** From one price to the next, where there were none between them. */
const LINK = 1
/** From this width on, the first lane has numbers at its guides. */
const NUMBERED_LANE = 76
/** The bars of breaks: how wide they are by severity, and how high at least. */
const BREAK_WIDTH = { mild: 2, severe: 4 } as const
const SHORTEST_BREAK = 3

/** The layout of so many lanes in a frame whose strings hang from `top`. */
export function layoutLines(width: number, height: number, top: number, lanes: readonly Lane[]): LinesLayout {
  const pinned = lanes.filter(({ isPinned }) => isPinned).length
  const pinGap = pinned > 0 && pinned < lanes.length ? PIN_GAP : 0
  const laneWidth = Math.min(WIDEST_LANE, (width - AXIS_WIDTH - pinGap - 8) / Math.max(1, lanes.length))
  const reach = Math.min(LONGEST_REACH, 0.42 * laneWidth)
  return { width, top, bottom: height - FOOT, left: AXIS_WIDTH, laneWidth, pinGap, pinned, reach }
}

/** The left edge of the i-th lane. */
export const laneLeft = ({ left, laneWidth, pinGap, pinned }: LinesLayout, i: number): number =>
  left + i * laneWidth + (i >= pinned ? pinGap : 0)

/** The lane at a distance from the left edge; null beside the lanes. */
export function laneIndexAt(layout: LinesLayout, x: number, count: number): number | null {
  const shift = x > laneLeft(layout, layout.pinned) ? layout.pinGap : 0
  const i = Math.floor((x - layout.left - shift) / layout.laneWidth)
  return i >= 0 && i < count ? i : null
}

export const yOf = ({ top, bottom }: LinesLayout, { from, end }: Picture, at: number): number =>
  top + ((at - from) / (end - from)) * (bottom - top)

export const timeAt = ({ top, bottom }: LinesLayout, { from, end }: Picture, y: number): number =>
  Math.max(from, Math.min(end, from + ((y - top) / (bottom - top)) * (end - from)))

/** The colour of a deviation: ink within 10 bps, beyond it by its sign. */
export const colourOf = (bps: number): 'ink' | 'above' | 'below' =>
  bandOf(bps) === 0 ? 'ink' : bps > 0 ? 'above' : 'below'

/** The colour of the farther one of two deviations. */
const colourOut = (one: number, other: number) => colourOf(Math.abs(one) > Math.abs(other) ? one : other)

function paintGuides(surface: Surface, picture: Picture, layout: LinesLayout, scale: Scale): void {
  const { top, bottom, laneWidth, reach } = layout
  const distance = distanceScale(scale)
  const bands: Rects = []
  const mild: Rects = []
  const severe: Rects = []
  const pegs: Rects = []
  for (let i = 0; i < picture.lanes.length; i++) {
    const middle = laneLeft(layout, i) + laneWidth / 2
    const half = distance(MILD_BPS) * reach
    bands.push(middle - half, top, 2 * half, bottom - top)
    for (const side of [-1, 1]) {
      mild.push(middle + side * half - 0.25, top, 0.5, bottom - top)
      severe.push(middle + side * distance(SEVERE_BPS) * reach - 0.25, top, 0.5, bottom - top)
    }
    pegs.push(middle - 0.25, top, 0.5, bottom - top)
  }
  surface.rects(bands, 'mark')
  surface.rects(mild, 'guide')
  surface.rects(severe, 'guide')
  surface.rects(pegs, 'guide')
  if (picture.lanes.length === 0 || laneWidth < NUMBERED_LANE) return
  const middle = laneLeft(layout, 0) + laneWidth / 2
  for (const bps of [-SEVERE_BPS, -MILD_BPS, MILD_BPS, SEVERE_BPS])
    surface.text(bpsText(bps).replace('.0', ''), middle + distance(bps) * reach, bottom + 13, {
      colour: 'quiet',
      size: 9,
      align: 'middle',
    })
}

function paintTime(surface: Surface, picture: Picture, layout: LinesLayout): void {
  const right = laneLeft(layout, picture.lanes.length - 1) + layout.laneWidth
  surface.text('UTC', layout.left - 10, layout.top - 8, { colour: 'quiet', size: 10, align: 'end' })
  for (const { at, text, isDay } of axisTicks(picture.from, picture.end, layout.bottom - layout.top)) {
    const y = yOf(layout, picture, at)
    surface.line(layout.left - 6, y, right, y, 'line', isDay ? 1 : 0.5)
    surface.text(text, layout.left - 10, y + 4, {
      colour: isDay ? 'ink' : 'quiet',
      size: 11,
      align: 'end',
      isBold: isDay,
    })
  }
}

/** Adds what a string is made of to the lists of its colours. */
function addString(
  parts: Record<'ink' | 'above' | 'below' | 'hatch' | 'dots' | 'partly', Rects>,
  lane: Lane,
  picture: Picture,
  layout: LinesLayout,
  { middle, xOf }: { middle: number; xOf: (bps: number) => number },
): void {
  const { from, step, count } = picture
  const height = yOf(layout, picture, from + step) - layout.top
  const strip = Math.min(layout.laneWidth * 0.5, 36)
  let previous: number | null = null
  for (let i = 0; i < count; i++) {
    const y = layout.top + i * height
    const bucket = bucketOf(picture, lane, i)
    if (bucket.is !== 'quoted') {
      const list = bucket.is === 'unquoted' ? parts.hatch : parts.dots
      list.push(middle - strip / 2, y, strip, height)
      previous = null
      continue
    }
    if (bucket.unquotedShare > 0) {
      const width = Math.max(4, strip * bucket.unquotedShare)
      parts.partly.push(middle - width / 2, y, width, height)
    }
    const [low, high] = [xOf(bucket.low), xOf(bucket.high)]
    if (previous !== null) {
      const from = xOf(previous)
      // A price holds until the next sample.
      if (from < low) parts[colourOut(previous, bucket.low)].push(from, y, low - from, LINK)
      else if (from > high) parts[colourOut(previous, bucket.high)].push(high, y, from - high, LINK)
    }
    previous = bucket.last
    if (high - low <= THINNEST) {
      parts[colourOut(bucket.low, bucket.high)].push((low + high - THINNEST) / 2, y, THINNEST, height + 0.3)
      continue
    }
    const [below, above] = [bucket.low, bucket.high].map((bps) => bandOf(bps) > 0)
    if (below && above && low < middle && high > middle) {
      parts.below.push(low, y, middle - low, height + 0.3)
      parts.above.push(middle, y, high - middle, height + 0.3)
    } else parts[colourOf(below ? bucket.low : bucket.high)].push(low, y, high - low, height + 0.3)
  }
}

/** Beside each string, a bar for every break of its peg: not all that is outside for a moment is one. */
function paintBreaks(surface: Surface, picture: Picture, layout: LinesLayout, scale: Scale): void {
  const bars: Rects = []
  // At the edge of the inner guides, close to the string; most breaks are on its other side.
  const aside = distanceScale(scale)(MILD_BPS) * layout.reach + 2
  picture.lanes.forEach((lane, i) => {
    const left = laneLeft(layout, i) + layout.laneWidth / 2 + aside
    for (const { severity, startedAt, endedAt } of lane.breaks) {
      const [from, to] = [Math.max(startedAt, picture.from), Math.min(endedAt ?? picture.end, picture.end)]
      if (to < from) continue
      const y = yOf(layout, picture, from)
      bars.push(left, y, BREAK_WIDTH[severity], Math.max(SHORTEST_BREAK, yOf(layout, picture, to) - y))
    }
  })
  surface.rects(bars, 'ink')
}

/** Paints all that does not move: guides, time, strings, breaks. */
export function paintLines(surface: Surface, picture: Picture, layout: LinesLayout, scale: Scale): void {
  const distance = distanceScale(scale)
  paintGuides(surface, picture, layout, scale)
  if (picture.lanes.length > 0) paintTime(surface, picture, layout)
  const parts = { ink: [], above: [], below: [], hatch: [], dots: [], partly: [] } as Record<
    'ink' | 'above' | 'below' | 'hatch' | 'dots' | 'partly',
    Rects
  >
  picture.lanes.forEach((lane, i) => {
    if (!picture.hasHistory) return
    const middle = laneLeft(layout, i) + layout.laneWidth / 2
    addString(parts, lane, picture, layout, { middle, xOf: (bps) => middle + distance(bps) * layout.reach })
  })
  surface.pattern(parts.dots, 'dots')
  surface.pattern(parts.hatch, 'hatch')
  surface.pattern(parts.partly, 'hatch')
  for (const colour of ['ink', 'below', 'above'] as const) surface.rects(parts[colour], colour)
  paintBreaks(surface, picture, layout, scale)
  const right = laneLeft(layout, picture.lanes.length - 1) + layout.laneWidth
  surface.rects([layout.left - 6, layout.top - 3, right - layout.left + 12, 3], 'ink')
}

/** A bob: a plumb's point; outside of the bands in the colour of its side, without a quote only an outline. */
function paintBob(surface: Surface, x: number, y: number, size: number, standing: Standing): void {
  const points = [x - size * 0.8, y, x + size * 0.8, y, x, y + size * 2]
  if (standing.is === 'quoted') surface.shape(points, colourOf(standing.bps))
  else surface.shape(points, 'paper', { outline: standing.is === 'unquoted' ? 'ink' : 'hatch' })
}

/** Basis points in the width of a lane: −12, or −3k where thousands would run into the next lane. */
const figureText = (bps: number, isNarrow: boolean): string =>
  isNarrow && Math.abs(bps) >= 1000 ? `${bps < 0 ? '−' : '+'}${Math.round(Math.abs(bps) / 1000)}k` : bpsText(bps)

/** Paints the bobs where the stables stand at an instant, each with its figure below, and the farthest of the picture. */
export function paintBobs(surface: Surface, picture: Picture, layout: LinesLayout, scale: Scale, at: number): void {
  const distance = distanceScale(scale)
  const y = yOf(layout, picture, at)
  const size = Math.max(4, Math.min(7, layout.laneWidth / 5))
  const isNarrow = layout.laneWidth < NARROW_LANE
  const lines = { at: layout.bottom + 34, farthest: layout.bottom + 52 }
  const titled = { colour: 'quiet', size: 10, align: 'end' } as const
  if (picture.lanes.length > 0) {
    surface.text('bps', layout.left - 10, lines.at, titled)
    surface.text('farthest', layout.left - 10, lines.farthest, titled)
  }
  picture.lanes.forEach((lane, i) => {
    const standing = at >= picture.end ? lane.now : standingAt(picture, lane, at)
    const middle = laneLeft(layout, i) + layout.laneWidth / 2
    const bps = standing.is === 'quoted' ? standing.bps : 0
    paintBob(surface, middle + distance(bps) * layout.reach, y, size, standing)
    const style = { size: isNarrow ? 9 : 11.5, align: 'middle' } as const
    if (standing.is === 'quoted')
      surface.text(figureText(bps, isNarrow), middle, lines.at, {
        ...style,
        colour: colourOf(bps),
        isBold: bandOf(bps) > 0,
      })
    else surface.text(standing.is === 'unquoted' ? 'none' : '–', middle, lines.at, { ...style, colour: 'quiet' })
    const far = picture.hasHistory ? farthestOf(lane) : null
    surface.text(far === null ? '–' : figureText(far, isNarrow), middle, lines.farthest, {
      ...style,
      colour: far === null || bandOf(far) === 0 ? 'quiet' : colourOf(far),
    })
  })
}
