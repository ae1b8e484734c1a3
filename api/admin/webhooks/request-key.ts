import { hash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { RepeatableRequest } from '../../../clickhouse/webhooks/subscriptions.js'
import { ReusedKeyError } from './errors.js'

export const IDEMPOTENCY_KEY = 'idempotency-key'

/** The headers of a request that may be repeated without being done twice. */
export const RepeatableHeaders = z.looseObject({
  [IDEMPOTENCY_KEY]: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters')
    .optional()
    .meta({
      description:
        'A text of your choice, such as a UUID, that identifies one request. Send the same text when you repeat the request: the repeat ' +
        'is answered like the first, and nothing is done twice. With a different body it is refused with 422.',
      examples: ['0b3c3f5e-6a1f-4d0f-9d3a-2f8f6f2d7a11'],
    }),
})

/** 128 bits of it, hexadecimal: enough to tell requests apart. */
const digest = (value: unknown): string => hash('sha256', JSON.stringify(value)).slice(0, 32)

/**
 * What a repeat of a request can be told by: `place` says what it was sent to, so that a key is good for one thing only.
 * null where the request has named no key. The key itself is kept nowhere.
 */
export function repeatable(place: readonly (string | number)[], key: string | undefined, body: unknown = null) {
  return key === undefined ? null : { request_key: digest([...place, key]), request_body: digest(body) }
}

/** Throws the 422 of a repeat that says something else than the first request did. */
export function requireSameBody(first: RepeatableRequest, repeat: RepeatableRequest): void {
  if (first.request_body !== repeat.request_body) throw new ReusedKeyError()
}

/** What deliveries are added for: the same for a request and its repeats, unlike anything else. */
export const causeOf = (request: RepeatableRequest | null): string =>
  request === null ? randomUUID() : `${request.request_key}:${request.request_body}`
