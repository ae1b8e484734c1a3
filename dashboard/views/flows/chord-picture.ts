import { type Chords, chordDirected, type Chord as Ribbon, type RibbonSubgroup, ribbonArrow } from 'd3-chord'
import { shortText } from '../../parts/figures.js'
import type { Surface } from '../../parts/surface.js'

/** What flowed from one stable to another; dollars as decimal text. */
type Flow = { from_address: string; to_address: string; volume_usd: string }

/** Stables that have a place of their own; the rest share one. */
const MOST = 15
const RING = 12
const LABELS = 112
const LINE = 16
/** Between two points of a curve, in pixels. */
const STEP = 6
const PAD = 0.03

/** What flowed between the largest stables: `flows[i][j]` dollars from the i-th to the j-th. */
export type Circle = {
  /** Of all stables. */
  count: number
  /** By which a place is named in a URL: its address, or `others`. */
  keys: readonly string[]
  names: readonly string[]
  flows: readonly (readonly number[])[]
}

/** The largest stables of `order`, by what `nameOf` calls them, and all others together as the last one. */
export function circleOf(
  flowing: readonly Flow[],
  order: readonly string[],
  nameOf: (address: string) => string,
): Circle {
  // One place for one stable would only hide its name.
  const own = order.length > MOST + 1 ? order.slice(0, MOST) : order
  const rest = order.length - own.length
  const names = own.map(nameOf)
  if (rest > 0) names.push(`the ${rest} others`)
  const places = new Map(own.map((address, i) => [address, i]))
  const flows = names.map(() => names.map(() => 0))
  for (const { from_address, to_address, volume_usd } of flowing) {
    const row = flows[places.get(from_address) ?? own.length]
    const to = places.get(to_address) ?? own.length
    if (row && to in row) row[to] = (row[to] as number) + Number(volume_usd)
  }
  return { count: order.length, keys: rest > 0 ? [...own, 'others'] : own, names, flows }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** What came into a place and what went out, in dollars, without what stayed in it. */
function totalsOf({ flows }: Circle, i: number): { out: number; into: number } {
  const own = flows[i]?.[i] ?? 0
  return { out: sum(flows[i] ?? []) - own, into: sum(flows.map((row) => row[i] ?? 0)) - own }
}

/** A place in words, or the whole circle. */
export function circleText(circle: Circle, looked: number | null): string {
  const name = looked === null ? undefined : circle.names[looked]
  if (looked === null || name === undefined)
    return `$${shortText(sum(circle.flows.map(sum)))} between ${circle.count} stables.`
  const { out, into } = totalsOf(circle, looked)
  return `${name}: $${shortText(out)} out, $${shortText(into)} in.`
}

type Layout = { x: number; y: number; radius: number; chords: Chords }

function layoutOf({ flows }: Circle, width: number, height: number): Layout | null {
  if (!(sum(flows.map(sum)) > 0)) return null
  const chords = chordDirected().padAngle(PAD)(flows.map((row) => [...row]))
  return { x: width / 2, y: height / 2, radius: Math.min(height / 2 - LINE, width / 2 - LABELS), chords }
}

/** Takes the curves of a path as points. */
class Points {
  readonly points: number[] = []
  readonly #x: number
  readonly #y: number

  constructor({ x, y }: Layout) {
    this.#x = x
    this.#y = y
  }

  lineTo(x: number, y: number): void {
    this.points.push(this.#x + x, this.#y + y)
  }

  moveTo(x: number, y: number): void {
    this.lineTo(x, y)
  }

  arc(x: number, y: number, radius: number, from: number, to: number): void {
    const count = Math.max(1, Math.ceil((Math.abs(to - from) * radius) / STEP))
    for (let i = 0; i <= count; i++) {
      const angle = from + ((to - from) * i) / count
      this.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle))
    }
  }

  quadraticCurveTo(middleX: number, middleY: number, x: number, y: number): void {
    const [startX, startY] = [(this.points.at(-2) as number) - this.#x, (this.points.at(-1) as number) - this.#y]
    for (let i = 1; i <= 24; i++) {
      const t = i / 24
      const of = (a: number, b: number, c: number): number => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c
      this.lineTo(of(startX, middleX, x), of(startY, middleY, y))
    }
  }

  closePath(): void {}
}

function ribbonPoints(layout: Layout, chord: Ribbon): number[] {
  const path = new Points(layout)
  const draw = ribbonArrow<unknown, Ribbon, RibbonSubgroup>()
    .radius(layout.radius - RING - 2)
    .context(path as never)
  draw(chord as never)
  return path.points
}

function paintLabels({ names }: Circle, layout: Layout, looked: number | null, surface: Surface): void {
  const { x, y, radius, chords } = layout
  const spots = chords.groups.map(({ index, startAngle, endAngle }) => {
    const angle = (startAngle + endAngle) / 2
    return { index, right: Math.sin(angle) >= 0, sin: Math.sin(angle), y: y - Math.cos(angle) * (radius + 8), angle }
  })
  for (const right of [true, false]) {
    const side = spots.filter((spot) => spot.right === right).sort((a, b) => a.y - b.y)
    let lowest = Number.NEGATIVE_INFINITY
    const tops = side.map((spot) => {
      lowest = Math.max(spot.y, lowest + LINE)
      return lowest
    })
    // What was pushed out below moves up again.
    const over = Math.max(0, (tops.at(-1) ?? 0) - (y + radius + LINE / 2))
    side.forEach(({ index, sin, angle }, i) => {
      const top = (tops[i] as number) - over
      const [fromX, fromY] = [x + sin * (radius + 2), y - Math.cos(angle) * (radius + 2)]
      const toX = x + (right ? 1 : -1) * Math.max(Math.abs(sin) * (radius + 8), 14)
      surface.line(fromX, fromY, toX, top, 'quiet', 0.75)
      surface.text(names[index] as string, toX + (right ? 4 : -4), top + 4, {
        colour: 'ink',
        size: 12,
        align: right ? 'start' : 'end',
        isBold: index === looked,
      })
    })
  }
}

/**
 * Paints the circle: a ribbon ends in an arrow where the flow went. With a place that is looked at, what it gave is in the
 * colour of above and what it got in that of below.
 */
export function paintCircle(
  circle: Circle,
  looked: number | null,
  width: number,
  height: number,
  surface: Surface,
): void {
  const layout = layoutOf(circle, width, height)
  if (!layout) return
  const isOf = ({ source, target }: Ribbon): boolean => source.index === looked || target.index === looked
  const ribbons = [...layout.chords].sort(
    (a, b) => Number(isOf(a)) - Number(isOf(b)) || b.source.value - a.source.value,
  )
  const most = Math.max(...ribbons.map(({ source }) => source.value))
  for (const chord of ribbons) {
    const colour = !isOf(chord) ? 'quiet' : chord.source.index === looked ? 'above' : 'below'
    // Large flows stand out of the many small ones.
    const opacity = looked === null ? 0.1 + (0.5 * chord.source.value) / most : isOf(chord) ? 0.8 : 0.06
    surface.shape(ribbonPoints(layout, chord), colour, { opacity })
  }
  const { radius } = layout
  for (const { index, startAngle, endAngle } of layout.chords.groups) {
    const ring = new Points(layout)
    ring.arc(0, 0, radius, startAngle - Math.PI / 2, endAngle - Math.PI / 2)
    ring.arc(0, 0, radius - RING, endAngle - Math.PI / 2, startAngle - Math.PI / 2)
    surface.shape(ring.points, 'ink', { opacity: looked === null || looked === index ? 0.9 : 0.35 })
  }
  paintLabels(circle, layout, looked, surface)
}

/** The place at a point; null in the middle of the circle, and between two. */
export function placeAt(circle: Circle, width: number, height: number, x: number, y: number): number | null {
  const layout = layoutOf(circle, width, height)
  if (!layout) return null
  const [dx, dy] = [x - layout.x, y - layout.y]
  if (Math.hypot(dx, dy) < layout.radius / 3) return null
  const angle = (Math.atan2(dx, -dy) + 2 * Math.PI) % (2 * Math.PI)
  return layout.chords.groups.find((group) => angle >= group.startAngle && angle <= group.endAngle)?.index ?? null
}
