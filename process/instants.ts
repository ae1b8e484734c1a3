import { BadParameterError } from './errors.js'

export const HOUR_SECONDS = 3600
export const DAY_SECONDS = 86_400
export const WEEK_SECONDS = 7 * DAY_SECONDS

/** The last second that a ClickHouse DateTime holds, in unix seconds: later than any block. */
export const END_OF_TIME = 0xffff_ffff

const UNIT_MS = { m: 60_000, h: 3_600_000, d: DAY_SECONDS * 1000 }

const RELATIVE = /^(\d{1,6})([mhd])$/
const EPOCH_SECONDS = /^\d{1,12}$/
// A `+` that was not percent-encoded arrives as a space.
const ISO_8601 =
  /^(\d{4}-\d\d-\d\d)(?:[T ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?(Z|[+ -](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/i

const ACCEPTED = 'an ISO 8601 timestamp or date, unix epoch seconds, or a time back from now such as 30m, 24h or 7d'

/** The instant of an ISO 8601 text in milliseconds; NaN for a day that does not exist. */
function isoMs([, day = '', time = '00:00', seconds = '00', zone = 'Z']: RegExpExecArray): number {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // Date.parse accepts 31 February as a day in March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return Number.NaN
  const [, sign = '', hours = '', minutes = '00'] = /^([+ -])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  const offset = sign === '' ? 'Z' : `${sign.replace(' ', '+')}${hours}:${minutes}`
  return Date.parse(`${day}T${time}:${seconds}${offset}`)
}

/**
 * The instant that a parameter names, in whole seconds, rounded down. Accepts an ISO 8601 timestamp (UTC where it has no
 * offset; with a space as in `sampled_at`), a date (its midnight, UTC), unix epoch seconds, or minutes, hours or days back from `now` (90m, 24h, 7d).
 * Throws BadParameterError, which names the parameter, for anything else and for the future. May lie before 1970.
 */
export function parseInstant(parameter: string, text: string, now: Date): Date {
  const relative = RELATIVE.exec(text)
  const iso = ISO_8601.exec(text)
  let ms = Number.NaN
  if (relative) ms = now.getTime() - Number(relative[1]) * UNIT_MS[relative[2] as keyof typeof UNIT_MS]
  else if (EPOCH_SECONDS.test(text)) ms = Number(text) * 1000
  else if (iso) ms = isoMs(iso)
  if (Number.isNaN(ms)) throw new BadParameterError(parameter, `must be ${ACCEPTED}`)
  if (ms > now.getTime()) throw new BadParameterError(parameter, 'must not lie in the future')
  return new Date(Math.floor(ms / 1000) * 1000)
}

/** The instant that an `as_of` parameter names; see parseInstant. */
export const parseAsOf = (text: string, now: Date): Date => parseInstant('as_of', text, now)

/** ISO 8601 in UTC without a fraction, such as 2026-07-01T12:00:00Z. */
export function isoSeconds(instant: Date): string {
  return `${instant.toISOString().slice(0, -5)}Z`
}
