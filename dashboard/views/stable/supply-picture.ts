import { shortText, tokensOf } from '../../parts/figures.js'
import type { Coverage } from '../parts/block.js'
import type { Plotted } from '../parts/plot-picture.js'
import { secondsOf } from './breaks.js'

export type Bucket = {
  bucket_start: string
  bucket_end: string
  supply: string | null
  cap: string | null
  minted: string
  burned: string
}
/** GET /stablecoins/{address}/supply/series. Amounts are base units. */
export type SupplyAnswer = { data: readonly Bucket[]; coverage: Coverage }

/** The supply at the end of each bucket. */
export function supplyPicture(data: readonly Bucket[], from: number, to: number): Plotted {
  const line = data.map(({ supply }) => (supply === null ? null : tokensOf(supply)))
  const known = line.filter((supply) => supply !== null)
  const [least, most] = known.length === 0 ? [0, 1] : [Math.min(...known), Math.max(...known)]
  // A little room, so that a supply that does not change is a line in the middle.
  const room = Math.max((most - least) * 0.15, most * 0.001, 1e-6)
  return {
    from,
    to,
    low: least - room,
    high: most + room,
    times: data.map(({ bucket_end }) => secondsOf(bucket_end)),
    line,
    left: shortText,
  }
}

/** What was minted upwards and what was burned downwards. */
export function changesPicture(data: readonly Bucket[], from: number, to: number): Plotted {
  const most = Math.max(1, ...data.flatMap(({ minted, burned }) => [tokensOf(minted), tokensOf(burned)]))
  return {
    from,
    to,
    low: -1.1 * most,
    high: 1.1 * most,
    times: data.map(({ bucket_end }) => secondsOf(bucket_end)),
    left: (value, step) => shortText(Math.abs(value), step),
    backdrop: ({ surface, x, y, left, width }) => {
      const bars = { above: [] as number[], below: [] as number[] }
      for (const { bucket_start, bucket_end, minted, burned } of data) {
        const [start, end] = [x(secondsOf(bucket_start)), x(secondsOf(bucket_end))]
        const wide = Math.max(2, end - start - 1)
        if (minted !== '0') bars.above.push(start, y(tokensOf(minted)), wide, y(0) - y(tokensOf(minted)))
        if (burned !== '0') bars.below.push(start, y(0), wide, y(-tokensOf(burned)) - y(0))
      }
      surface.rects(bars.above, 'above')
      surface.rects(bars.below, 'below')
      surface.line(left, y(0), left + width, y(0), 'quiet', 1)
    },
  }
}
