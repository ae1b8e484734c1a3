/** Seconds from the end of an attempt to the next one: before attempts 2 to 7. There is no eighth. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [30, 120, 600, 3600, 21_600, 86_400]

/** The maximum number of attempts of one delivery. */
export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1

/** A failed attempt, counted from 1, and how long its response asks to wait, in milliseconds; null if it does not. */
type FailedAttempt = { attempt: number; endedAt: Date; waitMs: number | null }

/**
 * When a delivery is retried after a failed attempt; null after the last. A requested wait can only postpone it.
 */
export function nextAttemptAt(
  { attempt, endedAt, waitMs }: FailedAttempt,
  delaysSeconds: readonly number[] = RETRY_DELAYS_SECONDS,
): Date | null {
  const delay = delaysSeconds[attempt - 1]
  if (delay === undefined) return null
  return new Date(endedAt.getTime() + Math.max(delay * 1000, waitMs ?? 0))
}
