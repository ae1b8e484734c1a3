import { memoized } from '../../process/memory.js'
import { levelOf } from '../events/levels.js'
import type { Subscription } from './subscriptions.js'

/** What says when a subscription gets its events: its quiet hours, empty if it has none, and its digest, 0 if it has none. */
export type Holding = Pick<
  Subscription,
  'quiet_from' | 'quiet_to' | 'quiet_zone' | 'critical_passes' | 'digest_minutes'
>

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440

const remainder = (minutes: number): number => ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES

const newClock = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** Making one takes a thousand times as long as using it. */
const clockOf = memoized<Intl.DateTimeFormat>(
  { name: 'clocks', holds: 'the clock of a time zone', max: 100 },
  // Of a zone that only a newer version knows, UTC: one subscription must not stop the others.
  (timeZone) => newClock(isTimeZone(timeZone) ? timeZone : 'UTC'),
)

/** Whether clocks of this IANA time zone are known: a name such as Europe/Berlin or UTC, not a distance such as +02:00. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    newClock(name)
    return true
  } catch {
    return false
  }
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3, 5))

/** What a clock on the wall shows, in minutes since midnight. */
const wallMinutes = (ms: number, zone: string): number => minutesOf(clockOf(zone).format(ms))

/** Whether a clock on the wall shows a time that is in the quiet hours. */
export function isQuiet(at: Date, { quiet_from, quiet_to, quiet_zone }: Holding): boolean {
  return quiet_from !== '' && isQuietMinute(wallMinutes(at.getTime(), quiet_zone), quiet_from, quiet_to)
}

function isQuietMinute(minute: number, quiet_from: string, quiet_to: string): boolean {
  const [from, to] = [minutesOf(quiet_from), minutesOf(quiet_to)]
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/** How far a clock on the wall is ahead of UTC, in minutes from 0 to 1439: another day makes no difference here. */
const aheadOfUtc = (ms: number, zone: string): number => remainder(wallMinutes(ms, zone) - Math.floor(ms / MINUTE_MS))

/** The first minute after `from`, in unix minutes, in which clocks are no longer as far ahead of UTC; at most `to`. */
function clockChange(from: number, to: number, zone: string): number {
  const before = aheadOfUtc(from * MINUTE_MS, zone)
  let [same, other] = [from, to]
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (aheadOfUtc(middle * MINUTE_MS, zone) === before) same = middle
    else other = middle
  }
  return other
}

/**
 * The first minute that is not quiet, of an instant in quiet hours. Where clocks change on the way, it is the first in which a
 * clock on the wall shows another time than a quiet one, even if it shows a quiet one again later.
 */
function quietEnd(at: Date, { quiet_from, quiet_to, quiet_zone: zone }: Holding): Date {
  let minute = Math.floor(at.getTime() / MINUTE_MS)
  for (;;) {
    const wall = wallMinutes(minute * MINUTE_MS, zone)
    if (!isQuietMinute(wall, quiet_from, quiet_to)) return new Date(minute * MINUTE_MS)
    const end = minute + remainder(minutesOf(quiet_to) - wall)
    const isSame = aheadOfUtc(end * MINUTE_MS, zone) === aheadOfUtc(minute * MINUTE_MS, zone)
    minute = isSame ? end : clockChange(minute, end, zone)
  }
}

/** The next multiple of so many minutes, counted from 1970-01-01T00:00Z: of 60 the full hour, of 1440 midnight UTC. */
function nextMultiple(at: Date, minutes: number): Date {
  const ms = minutes * MINUTE_MS
  return new Date((Math.floor(at.getTime() / ms) + 1) * ms)
}

/**
 * When an event that was recorded at `event_at` may be sent: at the next multiple of the digest's minutes, at once without a
 * digest, but not in quiet hours. It follows from these values alone, so that it is the same after a crash and changes with the subscription.
 * Later events are never released earlier.
 */
export function releaseAt(event_at: Date, holding: Holding): Date {
  const at = holding.digest_minutes === 0 ? event_at : nextMultiple(event_at, holding.digest_minutes)
  return isQuiet(at, holding) ? quietEnd(at, holding) : at
}

/**
 * Whether an event that is planned at `now` is kept for a digest instead of sent at once. One that is planned late, because nobody
 * could plan it before, is kept if quiet hours have begun meanwhile.
 */
export function isHeld(
  event: { type: string; data: Record<string, unknown>; recorded_at: Date },
  holding: Holding,
  now: Date,
): boolean {
  if (holding.critical_passes && levelOf(event) === 'critical') return false
  return releaseAt(event.recorded_at, holding) > event.recorded_at || isQuiet(now, holding)
}
