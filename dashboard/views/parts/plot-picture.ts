import { axisTicks } from '../../parts/axis.js'
import type { Rects, Surface } from '../../parts/surface.js'

/** Where the values of a plot are, in CSS pixels. `x` is of unix seconds. */
export type Backdrop = {
  surface: Surface
  x: (seconds: number) => number
  y: (value: number) => number
  left: number
  top: number
  width: number
  height: number
}

type Column = readonly (number | null)[]

/** Values over time. Where one is null there is nothing. */
export type Plotted = {
  /** Unix seconds at the left and the right end. */
  from: number
  to: number
  /** Values at the bottom and the top. */
  low: number
  high: number
  /** Unix seconds of the values, ascending. */
  times: readonly number[]
  line?: Column
  /** Behind the line: from the lowest to the highest of each bucket, which is `step` seconds long and ends at its time. */
  band?: { low: Column; high: Column; step: number }
  /** What the numbers beside the picture say, on the left and on the right; the next one is `step` away. */
  left: (value: number, step: number) => string
  right?: (value: number) => string
  /** Paints below the line. */
  backdrop?: (backdrop: Backdrop) => void
}

type Box = Pick<Backdrop, 'left' | 'top' | 'width' | 'height'>

const LEFT = 56
const RIGHT = 62
const MARGIN = 8
const FOOT = 24
const LEAST_PIXELS = 40

/** The rectangle of the values in a picture of this size. */
export function boxOf({ right }: Plotted, width: number, height: number): Box {
  return { left: LEFT, top: MARGIN, width: width - LEFT - (right ? RIGHT : MARGIN), height: height - MARGIN - FOOT }
}

/** The horizontal place of an instant. */
export const plotX = ({ from, to }: Plotted, { left, width }: Box, at: number): number =>
  left + (width * (at - from)) / (to - from)

const plotY = ({ low, high }: Plotted, { top, height }: Box, value: number): number =>
  top + (height * (high - value)) / (high - low)

/** The index of the value that is nearest to a horizontal place; null if there are none. */
export function indexAt(plotted: Plotted, box: Box, x: number): number | null {
  const { times } = plotted
  if (times.length === 0) return null
  const distance = (i: number): number => Math.abs(plotX(plotted, box, times[i] as number) - x)
  const after = times.findIndex((at) => plotX(plotted, box, at) >= x)
  if (after <= 0) return after === 0 ? 0 : times.length - 1
  return distance(after) < distance(after - 1) ? after : after - 1
}

/** Round numbers between two values, so far apart that their labels do not touch. */
export function valueTicks(low: number, high: number, pixels: number): number[] {
  const least = ((high - low) * LEAST_PIXELS) / pixels
  if (!(least > 0)) return []
  const power = 10 ** Math.floor(Math.log10(least))
  const step = ([1, 2, 5, 10].find((times) => times * power >= least) as number) * power
  // A bound that is a tick stays one, although 0.7 / 0.1 is less than 7.
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)]
  // Of whole multiples, so that no error adds up; a small step is the inverse of a whole number.
  return Array.from({ length: last - first + 1 }, (_, i) =>
    step < 1 ? (first + i) / Math.round(1 / step) : (first + i) * step,
  )
}

/** The stretches of a column without a null: from the first index to the last. */
function runsOf(column: Column): [number, number][] {
  const runs: [number, number][] = []
  for (let i = 0; i < column.length; i++) {
    if (column[i] === null) continue
    const last = runs.at(-1)
    if (last && last[1] === i - 1) last[1] = i
    else runs.push([i, i])
  }
  return runs
}

function paintAxes(plotted: Plotted, box: Box, surface: Surface): void {
  const { left, top, width, height } = box
  const style = { colour: 'quiet', size: 11 } as const
  const ticks = valueTicks(plotted.low, plotted.high, height)
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0)
  for (const value of ticks) {
    const y = plotY(plotted, box, value)
    surface.line(left, y, left + width, y, 'line', 1)
    surface.text(plotted.left(value, step), left - 6, y + 4, { ...style, align: 'end' })
    if (plotted.right) surface.text(plotted.right(value), left + width + 6, y + 4, style)
  }
  for (const { at, text } of axisTicks(plotted.from, plotted.to, width)) {
    const x = plotX(plotted, box, at)
    surface.line(x, top, x, top + height, 'line', 1)
    surface.text(text, x, top + height + 16, { ...style, align: 'middle' })
  }
}

function paintBand(
  { low, high, step }: NonNullable<Plotted['band']>,
  times: readonly number[],
  { surface, x, y }: Pick<Backdrop, 'surface' | 'x' | 'y'>,
): void {
  const bars = times.flatMap((end, i) => {
    const [least, most] = [low[i], high[i]]
    if (typeof least !== 'number' || typeof most !== 'number') return []
    return [x(end - step), y(most), x(end) - x(end - step), Math.max(1, y(least) - y(most))]
  })
  surface.rects(bars, 'above', 0.3)
}

type Values = { x: (i: number) => number; y: (value: number) => number; surface: Surface }

function paintLine(line: Column, { x, y, surface }: Values): void {
  const single: Rects = []
  for (const [first, last] of runsOf(line)) {
    const points: number[] = []
    for (let i = first; i <= last; i++) points.push(x(i), y(line[i] as number))
    if (first === last) single.push((points[0] as number) - 1.5, (points[1] as number) - 1.5, 3, 3)
    else surface.path(points, 'ink', 1.5)
  }
  surface.rects(single, 'ink')
}

/** Paints a plot of this size, `down` pixels below the top of the surface. */
export function paintPlot(plotted: Plotted, width: number, height: number, surface: Surface, down = 0): void {
  const whole = boxOf(plotted, width, height)
  const box = { ...whole, top: whole.top + down }
  const y = (value: number): number => plotY(plotted, box, value)
  const x = (seconds: number): number => plotX(plotted, box, seconds)
  paintAxes(plotted, box, surface)
  plotted.backdrop?.({ ...box, surface, x, y })
  if (plotted.band) paintBand(plotted.band, plotted.times, { surface, x, y })
  if (plotted.line) paintLine(plotted.line, { x: (i) => x(plotted.times[i] as number), y, surface })
}

/** Marks the value that is looked at. */
export function paintLooked(plotted: Plotted, i: number, width: number, height: number, surface: Surface): void {
  const at = plotted.times[i]
  if (at === undefined) return
  const box = boxOf(plotted, width, height)
  const x = plotX(plotted, box, at)
  surface.line(x, box.top, x, box.top + box.height, 'quiet', 0.75)
  const value = plotted.line?.[i]
  if (typeof value === 'number') surface.rects([x - 3, plotY(plotted, box, value) - 3, 6, 6], 'ink')
}
