import { useComputed } from '@preact/signals'
import { type Span, WINDOW_STEPS } from '../../board/series.js'
import { ticking } from '../../state/clock.js'
import { go, place } from '../../state/location.js'

const MONTH = 30 * 86_400

/** Length and bucket of what the pictures of a stable show, in seconds, and the name that the service has for the bucket. */
const RANGES = { ...WINDOW_STEPS, '30d': { length: MONTH, step: 3600, name: '1h' } } as const
export type Range = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES) as Range[]

/** A bucket is asked for when its last block has certainly been read. */
const BUCKET_DELAY_SECONDS = 8

/** The range that the URL names: the window of the board, or a month, which the board does not have. */
export const rangeOf = (): Range => (place.value.more.range === '30d' ? '30d' : place.value.window)

/** Shows another range. */
export function chooseRange(range: Range): void {
  const { range: _, ...more } = place.value.more
  if (range === '30d') go({ more: { ...more, range } })
  else go({ window: range, more })
}

/** The whole buckets of the range that end by the moment that is shown; another span when a bucket ends. */
export function useSpan(): Span & { step: number; name: string } {
  const range = rangeOf()
  const { length, step, name } = RANGES[range]
  const to = useComputed(() => {
    const { step } = RANGES[rangeOf()]
    return Math.floor((place.value.asOf ?? ticking.value - BUCKET_DELAY_SECONDS) / step) * step
  }).value
  return { from: to - length, to, step, name }
}
