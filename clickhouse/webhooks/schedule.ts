/** Seconds from the end of an attempt to the next one: before attempts 2 to 7. There is no eighth. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [30, 120, 600, 3600, 21_600, 86_400]

/** The maximum number of attempts of one delivery. */
export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1

/** The longest wait that a receiver can request. */
const MAX_RETRY_AFTER_MS = 86_400_000

const SECONDS = /^\d{1,12}$/
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** The wait that a Retry-After header requests, in milliseconds from `now`; 0 if it is absent or cannot be parsed. */
export function retryAfterMs(header: string | null, now: Date): number {
  const text = header?.trim() ?? ''
  let ms = 0
  if (SECONDS.test(text)) ms = Number(text) * 1000
  else if (HTTP_DATE.test(text)) ms = Date.parse(text) - now.getTime()
  return Math.min(Math.max(ms || 0, 0), MAX_RETRY_AFTER_MS)
}

/** A failed attempt, counted from 1, with the Retry-After header of its response. */
type FailedAttempt = { attempt: number; endedAt: Date; retryAfter: string | null }

/**
 * When a delivery is retried after a failed attempt; null after the last. Retry-After can only postpone it.
 */
export function nextAttemptAt(
  { attempt, endedAt, retryAfter }: FailedAttempt,
  delaysSeconds: readonly number[] = RETRY_DELAYS_SECONDS,
): Date | null {
  const delay = delaysSeconds[attempt - 1]
  if (delay === undefined) return null
  return new Date(endedAt.getTime() + Math.max(delay * 1000, retryAfterMs(retryAfter, endedAt)))
}
