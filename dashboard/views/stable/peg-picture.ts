import { bucketAt, type SeriesAnswer, type SeriesOfStable, type Span } from '../../board/series.js'
import { MILD_BPS, SEVERE_BPS } from '../../board/stables.js'
import { bpsText } from '../../parts/figures.js'
import type { Rects } from '../../parts/surface.js'
import type { Backdrop, Plotted } from '../parts/plot-picture.js'
import { type PegEvent, secondsOf } from './breaks.js'

/** A price in the reference stable. Prices have six decimals. */
export const priceText = (bps: number): string => (1 + bps / 10_000).toFixed(5)

const LABEL_PIXELS = 16

/** A range without any answer for the stable shows nothing as measured. */
const NONE: SeriesOfStable = { address: '', symbol: '', low_bps: [], high_bps: [], last_bps: [], unquoted_share: [] }

/** The buckets of an answer about one stable, whose first one begins at `from` (unix seconds). */
export type PegBuckets = { from: number; step: number; count: number; series: SeriesOfStable }

export const bucketsOf = ({ from, step_seconds, bucket_count, stables }: SeriesAnswer): PegBuckets => ({
  from: secondsOf(from),
  step: step_seconds,
  count: bucket_count,
  series: stables[0] ?? NONE,
})

/** Where there was no quote in a whole bucket, hatched; where nothing was measured, dotted. */
function paintAbsences(
  { from, step, count, series }: PegBuckets,
  span: Span,
  { surface, x, top, height }: Backdrop,
): void {
  const marks: Record<'unquoted' | 'unmeasured', Rects> = { unquoted: [], unmeasured: [] }
  for (let i = 0; i < count; i++) {
    const { is } = bucketAt(series, i)
    if (is === 'quoted') continue
    const [start, end] = [x(from + i * step), x(from + (i + 1) * step)]
    marks[is].push(start, top, end - start, height)
  }
  // The answer begins with the first block and ends with the newest one.
  for (const [start, end] of [
    [span.from, from],
    [from + count * step, span.to],
  ] as const)
    if (end > start) marks.unmeasured.push(x(start), top, x(end) - x(start), height)
  surface.pattern(marks.unquoted, 'hatch')
  surface.pattern(marks.unmeasured, 'dots')
}

function paintBreaks(
  events: readonly PegEvent[],
  end: number,
  { surface, x, left, width, top, height }: Backdrop,
): void {
  for (const { severity, started_at, ended_at } of events) {
    const start = Math.max(left, x(secondsOf(started_at)))
    const stop = Math.min(left + width, x(ended_at === null ? end : secondsOf(ended_at)))
    if (stop < left || start > left + width) continue
    // A break of a minute would be less than a pixel in a month.
    surface.rects([start, top, Math.max(1.5, stop - start), height], 'below', severity === 'severe' ? 0.26 : 0.12)
    surface.rects([start, top, Math.max(1.5, stop - start), 3], 'below')
  }
}

/** The lines at the peg and at the bounds of breaks, as far as the picture reaches. */
function paintGuides({ surface, y, left, width, top, height }: Backdrop): void {
  for (const bps of [0, MILD_BPS, -MILD_BPS, SEVERE_BPS, -SEVERE_BPS]) {
    const at = y(bps)
    if (at < top || at > top + height) continue
    surface.line(left, at, left + width, at, bps === 0 ? 'quiet' : 'guide', 1)
    // Close to the peg there is no room for words.
    if (Math.abs(at - y(0)) > LABEL_PIXELS)
      surface.text(`${bpsText(bps)} bps`, left + 4, at - top < LABEL_PIXELS ? at + 11 : at - 3, {
        colour: 'quiet',
        size: 10,
      })
  }
}

const known = (column: readonly (number | null)[]): number[] =>
  column.filter((value): value is number => value !== null)

/** The distance from the peg over time: its last value in each bucket, with all others of the bucket around it. */
export function pegPicture(buckets: PegBuckets, events: readonly PegEvent[], { from, to }: Span): Plotted {
  const { series, step, count } = buckets
  const indices = Array.from({ length: count }, (_, i) => i)
  const column = (name: 'last_bps' | 'high_bps' | 'low_bps') => indices.map((i) => series[name][i] ?? null)
  const band = { low: column('low_bps'), high: column('high_bps'), step }
  return {
    from,
    to,
    low: 1.2 * Math.min(-MILD_BPS, ...known(band.low)),
    high: 1.2 * Math.max(MILD_BPS, ...known(band.high)),
    // What a bucket has last is known at its end.
    times: indices.map((i) => buckets.from + (i + 1) * step),
    line: column('last_bps'),
    band,
    left: (bps) => (bps === 0 ? '0' : bpsText(bps)),
    right: priceText,
    backdrop: (backdrop) => {
      paintAbsences(buckets, { from, to }, backdrop)
      paintBreaks(events, to, backdrop)
      paintGuides(backdrop)
    },
  }
}
