const TWO = (value: number): string => String(value).padStart(2, '0')

/** Unix seconds as 2026-07-01 12:00:00 UTC. */
export const timeText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** The time of day, 12:00; with seconds if they are not zero. */
export function clockText(seconds: number): string {
  const date = new Date(seconds * 1000)
  const rest = date.getUTCSeconds()
  return `${TWO(date.getUTCHours())}:${TWO(date.getUTCMinutes())}${rest === 0 ? '' : `:${TWO(rest)}`}`
}

/** A length of time in its two largest units: 12 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export function ageText(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Signed basis points: +0.4, −12, 0. A minus sign, as wide as the plus. */
export function bpsText(bps: number): string {
  const size = Math.abs(bps)
  const digits = size >= 9.95 ? size.toFixed(0) : size.toFixed(1)
  if (Number(digits) === 0) return '0'
  return `${bps < 0 ? '−' : '+'}${digits}`
}

const UNITS = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** A number to three digits: 412M, 1.25B, 826, 0.05; to more if another number is only `step` away: 412.05M. */
export function shortText(value: number, step = Number.POSITIVE_INFINITY): string {
  const unit = UNITS.find(([size]) => Math.abs(value) >= 0.9995 * size)
  const digitsOf = (least: number, size: number): number =>
    Math.min(12, Math.max(least, Math.ceil(-Math.log10(step / size) - 1e-9)))
  const [size, letter] = unit ?? [1, '']
  const scaled = value / size
  const digits = digitsOf(Math.abs(scaled) >= 99.95 ? 0 : Math.abs(scaled) >= 9.995 ? 1 : 2, size)
  return `${Number(scaled.toFixed(digits))}${letter}`
}

/** Base units (six decimals, an integer as text) as a number of tokens: exact enough to show and to sort. */
export const tokensOf = (raw: string): number => Number(raw) / 1e6

/** An integer with thin spaces between thousands. */
export const integerText = (value: number): string => value.toFixed(0).replaceAll(/\B(?=(\d{3})+$)/g, '\u2009')

/** Base units (six decimals, an integer as text) as tokens, none of them rounded away: 1 234 567.5. */
export function tokensText(raw: string): string {
  const digits = raw.padStart(7, '0')
  const whole = digits.slice(0, -6).replaceAll(/\B(?=(\d{3})+$)/g, '\u2009')
  const rest = digits.slice(-6).replace(/0+$/, '')
  return rest === '' ? whole : `${whole}.${rest}`
}
