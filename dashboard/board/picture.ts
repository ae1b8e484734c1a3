import type { Label } from '../parts/names.js'
import { type Break, breaksOf } from './breaks.js'
import { type Bucket, bucketAt, type SeriesAnswer, type SeriesOfStable } from './series.js'
import { deviationOf, type ListedStable, type Standing, standingOf } from './stables.js'

/** A price that came with the stream. */
type LivePrice = { price_vs_refusd: number | null; mid_price: number | null; status: string; at: number }

/** What is drawn of one stable. */
export type Lane = {
  stable: ListedStable
  label: Label
  isPinned: boolean
  series: SeriesOfStable | null
  /** At the end of the picture. */
  now: Standing
  /** The lowest and the highest deviation in the picture; null without any quote. */
  range: { low: number; high: number } | null
  breaks: readonly Break[]
}

/** What is drawn. Times are unix seconds. */
export type Picture = {
  from: number
  /** End of the last whole bucket. */
  to: number
  /** Now, or the requested moment. */
  end: number
  step: number
  /** Buckets of the picture. */
  count: number
  /** Whether there is a history to paint. While it loads, nothing is known, which is not the same as not measured. */
  hasHistory: boolean
  /** Buckets before the first one of the series, which begins with the history of the chain. */
  offset: number
  lanes: readonly Lane[]
}

type Inputs = {
  stables: readonly ListedStable[]
  labels: ReadonlyMap<string, Label>
  series: SeriesAnswer | null
  /** Newer than the list; empty for the past. */
  live: ReadonlyMap<string, LivePrice>
  breaks: readonly Break[]
  pins: readonly string[]
  span: { from: number; to: number; step: number }
  end: number
}

/** The newest buckets may not have been read yet when the series was made. */
const LATEST_BUCKETS = 2

/** `2026-07-01 12:00:00+00` in unix seconds. */
const sampledAt = (text: string): number => Date.parse(`${text.slice(0, 19).replace(' ', 'T')}Z`) / 1000

/** The standing by the newest of list and stream. Stables without a quote of their own, such as the reference, stay as listed. */
function newest(stable: ListedStable, live: LivePrice | undefined): Standing {
  const listed = standingOf(stable)
  if (!live || (stable.peg && sampledAt(stable.peg.sampled_at) >= live.at)) return listed
  const price = live.mid_price ?? live.price_vs_refusd
  if (price !== null) return { is: 'quoted', bps: deviationOf(price) }
  return listed.is === 'unmeasured' ? listed : { is: 'unquoted' }
}

const known = (column: readonly (number | null)[]): number[] => column.filter((value) => value !== null)

function rangeOf(series: SeriesOfStable | null): Lane['range'] {
  const [lows, highs] = [known(series?.low_bps ?? []), known(series?.high_bps ?? [])]
  return lows.length === 0 ? null : { low: Math.min(...lows), high: Math.max(...highs) }
}

/** The deviation of a lane that was farthest from the peg in the picture, its end included; null without any quote. */
export function farthestOf({ range, now }: Pick<Lane, 'range' | 'now'>): number | null {
  const values = [...(range ? [range.low, range.high] : []), ...(now.is === 'quoted' ? [now.bps] : [])]
  return values.reduce<number | null>((far, bps) => (Math.abs(bps) > Math.abs(far ?? 0) ? bps : (far ?? bps)), null)
}

/** Puts together what is drawn of the stables, in their order. */
export function pictureOf({ stables, labels, series, live, breaks, pins, span, end }: Inputs): Picture {
  const columns = new Map(series?.stables.map((one) => [one.address, one]))
  const step = series?.step_seconds ?? span.step
  const first = series ? Date.parse(series.from) / 1000 : span.to
  const last = series && series.bucket_count > 0 ? first + series.bucket_count * step : span.to
  // While another window loads, the series of the one before it is shown.
  const isOfSpan = step === span.step && first >= span.from && last <= span.to
  const from = isOfSpan ? span.from : first
  // A series ends with the newest block. While the past is still being read, the rest of the window is not measured.
  const to = isOfSpan && last < span.to - LATEST_BUCKETS * step ? span.to : last
  return {
    from,
    to,
    end: Math.max(end, to),
    step,
    count: Math.round((to - from) / step),
    offset: Math.round((first - from) / step),
    hasHistory: series !== null,
    lanes: stables.map((stable) => {
      const series = columns.get(stable.address) ?? null
      return {
        stable,
        label: labels.get(stable.address) as Label,
        isPinned: pins.includes(stable.address),
        series,
        now: newest(stable, live.get(stable.address)),
        range: rangeOf(series),
        breaks: breaksOf(breaks, stable.address),
      }
    }),
  }
}

/** The bucket of an instant, -1 before the first; the count if it is after the last. */
export function bucketIndexAt({ from, step, count }: Pick<Picture, 'from' | 'step' | 'count'>, at: number): number {
  return Math.max(-1, Math.min(count, Math.ceil((at - from) / step) - 1))
}

/** The i-th bucket of a lane in the picture. */
export const bucketOf = ({ offset }: Pick<Picture, 'offset'>, { series }: Lane, i: number): Bucket =>
  series ? bucketAt(series, i - offset) : { is: 'unmeasured' }

/** What is known about a lane at an instant: its bucket, or where it is now. */
export function laneAt(picture: Picture, lane: Lane, at: number): Bucket | { is: 'now'; now: Standing } {
  const i = bucketIndexAt(picture, at)
  return i >= picture.count ? { is: 'now', now: lane.now } : bucketOf(picture, lane, i)
}

/** Where a lane stood at an instant: by the last sample of its bucket. */
export function standingAt(picture: Picture, lane: Lane, at: number): Standing {
  const known = laneAt(picture, lane, at)
  if (known.is === 'now') return known.now
  return known.is === 'quoted' ? { is: 'quoted', bps: known.last } : known
}
