import { randomUUID } from 'node:crypto'

/** Digits of a UUID that count: enough for 2^48 requests. */
const COUNTED = 12

/**
 * Names requests by UUIDs that share their random part and count in the rest: as good to find a request by, at a fraction
 * of the cost of new random bytes for each.
 */
export function createRequestIds(): () => string {
  const random = randomUUID().slice(0, -COUNTED)
  let count = 0
  return () => random + (++count).toString(16).padStart(COUNTED, '0')
}
