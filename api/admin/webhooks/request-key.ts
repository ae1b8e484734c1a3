import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { RepeatableRequest } from '../../../clickhouse/webhooks/subscriptions.js'
import { ReusedKeyError } from './errors.js'

export const IDEMPOTENCY_KEY = 'idempotency-key'

/** The headers of a request that can be repeated safely. */
export const RepeatableHeaders = z.looseObject({
  [IDEMPOTENCY_KEY]: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')
    .optional()
    .meta({
      description:
        'A string of your choice, such as a UUID, that identifies one request. Send the same string when you repeat the request: the repeat ' +
        'gets the answer of the first, and nothing is done twice. With a different body it is refused with 422.',
      examples: ['0b3c3f5e-6a1f-4d0f-9d3a-2f8f6f2d7a11'],
    }),
})

/** 128 bits of the hash, in hex: enough to distinguish requests. */
const digest = (value: unknown): string => hash('sha256', JSON.stringify(value)).slice(0, 32)

/**
 * Identifies a request and its repeats; null without a key. `place` is the target of the request, so that a key applies
 * to one target only. The key itself is not stored.
 */
export function repeatable(place: readonly (string | number)[], key: string | undefined, body: unknown = null) {
  return key === undefined ? null : { request_key: digest([...place, key]), request_body: digest(body) }
}

/** Throws a 422 if the repeat differs from the first request. */
export function requireSameBody(first: RepeatableRequest, repeat: RepeatableRequest): void {
  if (first.request_body !== repeat.request_body) throw new ReusedKeyError()
}

/** The cause of added deliveries: the same for a request and its repeats, unique otherwise. */
export const causeOf = (request: RepeatableRequest | null): string =>
  request === null ? randomUUID() : `${request.request_key}:${request.request_body}`
