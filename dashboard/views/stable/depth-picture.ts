import { axisTicks } from '../../parts/axis.js'
import { shortText } from '../../parts/figures.js'
import type { Rects, Surface } from '../../parts/surface.js'
import type { Coverage } from '../parts/block.js'
import { secondsOf } from './breaks.js'

/** GET /stablecoins/{address}/depth/series: columns with a value per bucket. */
export type DepthAnswer = {
  from: string
  step_seconds: number
  bucket_count: number
  coverage: Coverage
  sizes: readonly {
    size_tokens: number
    sell_slippage_bps: readonly (number | null)[]
    buy_slippage_bps: readonly (number | null)[]
    is_sampled: readonly boolean[]
  }[]
}

export const SIDES = ['sell', 'buy'] as const
type Side = (typeof SIDES)[number]

/** From these basis points on, a cell is so dark. */
export const SHADES = [
  { from: Number.NEGATIVE_INFINITY, opacity: 0.1, text: 'under 1' },
  { from: 1, opacity: 0.25, text: '1' },
  { from: 5, opacity: 0.42, text: '5' },
  { from: 10, opacity: 0.6, text: '10' },
  { from: 50, opacity: 0.8, text: '50' },
  { from: 200, opacity: 1, text: '200 and more' },
] as const

export type Cell = { side: Side; size: number; bucket: number }
export type CellValue = { is: 'quoted'; bps: number } | { is: 'unquoted' } | { is: 'unsampled' }

/** What a cell says. Without a sample nothing is known; a sample without a quote is a size that the book cannot fill. */
export function cellValue({ sizes }: DepthAnswer, { side, size, bucket }: Cell): CellValue {
  const row = sizes[size]
  if (!row?.is_sampled[bucket]) return { is: 'unsampled' }
  const bps = row[`${side}_slippage_bps`][bucket]
  return typeof bps === 'number' ? { is: 'quoted', bps } : { is: 'unquoted' }
}

const LEFT = 52
const ROW = 20
const TITLE = 20
const GAP = 10
const FOOT = 20

/** Where everything is, in CSS pixels. Time runs over the whole of the span, whatever part of it has buckets. */
export type DepthLayout = { width: number; height: number; from: number; to: number }

export const layoutOf = (answer: DepthAnswer, width: number, span: { from: number; to: number }): DepthLayout => ({
  width,
  height: 2 * (TITLE + ROW * answer.sizes.length) + GAP + FOOT,
  ...span,
})

const xOf = ({ width, from, to }: DepthLayout, at: number): number =>
  LEFT + ((width - LEFT) * (at - from)) / (to - from)

/** The top of a row; sizes grow away from the middle, as in a book of orders. */
function topOf(sizes: number, side: Side, size: number): number {
  if (side === 'sell') return TITLE + ROW * (sizes - 1 - size)
  return TITLE + ROW * sizes + GAP + TITLE + ROW * size
}

/** Paints how slippage by size changed over time: selling above, buying below. */
export function paintDepth(answer: DepthAnswer, layout: DepthLayout, surface: Surface): void {
  const { sizes, bucket_count, step_seconds } = answer
  const start = secondsOf(answer.from)
  const absent: Record<'unquoted' | 'unsampled', Rects> = { unquoted: [], unsampled: [] }
  for (const side of SIDES) {
    const title = side === 'sell' ? 'Selling' : 'Buying'
    const titleTop = side === 'sell' ? 0 : TITLE + ROW * sizes.length + GAP
    surface.text(title, LEFT, titleTop + 14, { colour: 'ink', size: 12, isBold: true })
    const shaded: Rects[] = SHADES.map(() => [])
    sizes.forEach(({ size_tokens }, size) => {
      const top = topOf(sizes.length, side, size)
      surface.text(shortText(size_tokens), LEFT - 8, top + 14, { colour: 'quiet', size: 11, align: 'end' })
      const begin = Math.round(xOf(layout, start))
      if (begin > LEFT) absent.unsampled.push(LEFT, top, begin - LEFT, ROW - 1)
      for (let bucket = 0; bucket < bucket_count; bucket++) {
        const value = cellValue(answer, { side, size, bucket })
        const left = xOf(layout, start + bucket * step_seconds)
        // To whole pixels, so that neighbours neither overlap nor leave a seam.
        const [from, to] = [Math.round(left), Math.round(xOf(layout, start + (bucket + 1) * step_seconds))]
        const rects =
          value.is === 'quoted'
            ? (shaded[SHADES.findLastIndex((shade) => value.bps >= shade.from)] as Rects)
            : absent[value.is]
        rects.push(from, top, Math.max(1, to - from), ROW - 1)
      }
    })
    shaded.forEach((rects, i) => {
      surface.rects(rects, side === 'sell' ? 'below' : 'above', SHADES[i]?.opacity)
    })
  }
  surface.pattern(absent.unquoted, 'hatch')
  surface.pattern(absent.unsampled, 'dots')
  for (const { at, text } of axisTicks(layout.from, layout.to, layout.width - LEFT))
    surface.text(text, xOf(layout, at), layout.height - 5, { colour: 'quiet', size: 11, align: 'middle' })
}

/** The cell at a point of the picture; null outside of all. */
export function cellAt(answer: DepthAnswer, layout: DepthLayout, x: number, y: number): Cell | null {
  const at = layout.from + ((x - LEFT) / (layout.width - LEFT)) * (layout.to - layout.from)
  const bucket = Math.floor((at - secondsOf(answer.from)) / answer.step_seconds)
  if (x < LEFT || bucket < 0 || bucket >= answer.bucket_count) return null
  for (const side of SIDES)
    for (let size = 0; size < answer.sizes.length; size++) {
      const top = topOf(answer.sizes.length, side, size)
      if (y >= top && y < top + ROW) return { side, size, bucket }
    }
  return null
}
