import { clockText } from '../parts/figures.js'
import type { Surface } from '../parts/surface.js'
import type { Scale } from '../state/place.js'
import { FOOT, laneIndexAt, laneLeft, layoutLines, paintBobs, paintLines, timeAt, yOf } from './paint-lines.js'
import { heightOfRows, layoutRows, paintRowFigures, paintRows, timeAtX, xOf } from './paint-rows.js'
import type { Picture } from './picture.js'

export type Spot = { lane: number; at: number }
type Box = { left: number; top: number; width: number; height: number }

/** A picture with its layout: how to paint it, and what is where. */
export type Plan = {
  width: number
  height: number
  /** Where time runs: down or to the right. */
  time: Box & { isVertical: boolean }
  headOf: (lane: number) => Box
  /** Whether the names of the stables are written upwards. */
  isTurned: boolean
  paint: (surface: Surface) => void
  /** What changes with the instant that is shown. */
  paintMoment: (surface: Surface, at: number) => void
  /** What is under the pointer. */
  paintFocus: (surface: Surface, spot: Spot) => void
  spotAt: (x: number, y: number) => Spot | null
}

const HEAD_TURNED = 138
const HEAD_FLAT = 50
/** Narrower lanes have their names written upwards. */
const FLAT_LANE = 76

/** The plumb lines. */
export function linesPlan(picture: Picture, width: number, height: number, scale: Scale): Plan {
  const { lanes } = picture
  const isTurned = layoutLines(width, height, 0, lanes).laneWidth < FLAT_LANE
  const layout = layoutLines(width, height, isTurned ? HEAD_TURNED : HEAD_FLAT, lanes)
  const right = laneLeft(layout, lanes.length - 1) + layout.laneWidth
  return {
    width,
    height,
    time: { isVertical: true, left: 0, top: layout.top, width: layout.left, height: layout.bottom - layout.top },
    headOf: (i) => ({ left: laneLeft(layout, i), top: 0, width: layout.laneWidth, height: layout.top - 6 }),
    isTurned,
    paint: (surface) => paintLines(surface, picture, layout, scale),
    paintMoment: (surface, at) => {
      if (at < picture.end) {
        const y = yOf(layout, picture, at)
        // What came later was not known then.
        surface.rects([layout.left - 5, y, right - layout.left + 12, layout.bottom - y + 1], 'paper', 0.78)
        surface.line(layout.left - 6, y, right, y, 'ink', 1)
        surface.rects([22, y - 8, layout.left - 29, 16], 'paper')
        surface.text(clockText(at), layout.left - 10, y + 4, { colour: 'ink', size: 11, align: 'end', isBold: true })
      }
      paintBobs(surface, picture, layout, scale, at)
    },
    paintFocus: (surface, { lane, at }) => {
      const left = laneLeft(layout, lane)
      const y = yOf(layout, picture, at)
      surface.rects([left, layout.top, layout.laneWidth, layout.bottom - layout.top + FOOT - 4], 'ink', 0.07)
      surface.line(layout.left - 6, y, right, y, 'quiet', 0.75)
    },
    spotAt: (x, y) => {
      const lane = laneIndexAt(layout, x, lanes.length)
      return lane === null || y > height ? null : { lane, at: timeAt(layout, picture, y) }
    },
  }
}

/** The horizon rows. They are as high as they need to be. */
export function rowsPlan(picture: Picture, width: number, height: number): Plan {
  const count = picture.lanes.length
  const layout = layoutRows(width, height, count)
  const bottom = heightOfRows(layout, count)
  return {
    width,
    height: bottom,
    time: { isVertical: false, left: layout.left, top: 0, width: layout.right - layout.left, height: layout.top },
    headOf: (i) => ({
      left: 0,
      top: layout.top + i * layout.rowHeight,
      width: layout.left - 8,
      height: layout.rowHeight,
    }),
    isTurned: false,
    paint: (surface) => paintRows(surface, picture, layout),
    paintMoment: (surface, at) => paintRowFigures(surface, picture, layout, at),
    paintFocus: (surface, { lane, at }) => {
      const x = xOf(layout, picture, at)
      surface.rects([0, layout.top + lane * layout.rowHeight - 1, width, layout.rowHeight], 'ink', 0.07)
      surface.line(x, layout.top, x, bottom, 'quiet', 0.75)
    },
    spotAt: (x, y) => {
      const lane = Math.floor((y - layout.top) / layout.rowHeight)
      return lane < 0 || lane >= count ? null : { lane, at: timeAtX(layout, picture, x) }
    },
  }
}
