/** The longest wait that a receiver can request. */
const MAX_RETRY_AFTER_MS = 86_400_000

const SECONDS = /^(?:\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})$/

/** The three forms of a date in HTTP (RFC 9110, 5.6.7). All are in GMT; the last one does not say so. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]

const limited = (ms: number): number => Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)

/**
 * The wait that a Retry-After header requests, in milliseconds from `now`, at most a day: in seconds, also with a fraction, or until a
 * date; 0 if that has passed. Null if it is absent or cannot be parsed.
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? ''
  if (SECONDS.test(text)) return limited(Number(text) * 1000)
  if (!HTTP_DATES.some((form) => form.test(text))) return null
  const until = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(until) ? null : limited(until - now.getTime())
}

type Fields = Record<string, unknown>

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/**
 * The wait that the body of a 429 requests, in milliseconds, at most a day: `retry_after` as Discord sends it, or
 * `parameters.retry_after` as Telegram does, in seconds. Null if it is not JSON or has neither.
 */
export function bodyRetryAfterMs(body: string): number | null {
  let fields: Fields
  try {
    fields = fieldsOf(JSON.parse(body))
  } catch {
    return null
  }
  const seconds = fields.retry_after ?? fieldsOf(fields.parameters).retry_after
  const isText = typeof seconds === 'string' || typeof seconds === 'number'
  const ms = isText && `${seconds}`.trim() !== '' ? Number(seconds) * 1000 : Number.NaN
  return Number.isNaN(ms) ? null : limited(ms)
}
