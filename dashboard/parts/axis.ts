import { clockText } from './figures.js'

export type Tick = { at: number; text: string; isDay: boolean }

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Distances of ticks that people read at a glance, in seconds. */
const DISTANCES = [
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  5 * DAY,
]
const LEAST_PIXELS = 44

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A day in two words: 23 Nov. */
export function dayText(seconds: number): string {
  const date = new Date(seconds * 1000)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
}

/** Ticks between two instants that are so many pixels apart, at whole hours of UTC; midnights have the name of the day. */
export function axisTicks(from: number, to: number, pixels: number): Tick[] {
  const distance = DISTANCES.find((seconds) => (pixels * seconds) / (to - from) >= LEAST_PIXELS) ?? 10 * DAY
  const ticks: Tick[] = []
  for (let at = Math.ceil(from / distance) * distance; at < to; at += distance) {
    // The end of the axis has a label of its own.
    if (((to - at) * pixels) / (to - from) < 14) break
    const isDay = at % DAY === 0
    ticks.push({ at, text: isDay ? dayText(at) : clockText(at), isDay })
  }
  return ticks
}
