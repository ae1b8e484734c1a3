/** The kinds of problems that are this service's own, by the last part of their type, and what each means. */
export const PROBLEM_KINDS = {
  'bad-parameter': 'a parameter, or a field of the body, is invalid; `errors` has all of them',
  'bad-request': 'not a valid HTTP request, or the body cannot be read',
  'bad-url': 'the URL is not properly encoded',
  'invalid-key': 'the Authorization header does not contain a valid key',
  'missing-key': 'the route requires the admin key',
  'payment-required': 'the route has a price, and this service takes no payments: send a key',
  'insufficient-funds': 'the payer’s account cannot pay the price and the fee; nothing was charged',
  forbidden: 'the key is valid, but not for this route',
  'unknown-route': 'there is no such path',
  'unknown-stable': 'the address is not a tracked stable',
  'unknown-key': 'there is no key with this id',
  'unknown-webhook': 'there is no subscription with this id',
  'unknown-delivery': 'there is no delivery with this id',
  'before-history': 'nothing is known about that time, or nothing had been published by then',
  'method-not-allowed': 'the path exists, but not with this method',
  'too-slow': 'the request took too long to arrive',
  'payment-in-use': 'another request is using this payment; present it again later',
  'webhook-disabled': 'the subscription is disabled',
  'too-many-webhooks': 'the limit of subscriptions is reached',
  'url-too-long': 'the URL is longer than any valid one',
  'idempotency-key-reused': 'the same Idempotency-Key was sent with another request',
  'headers-too-large': 'the URL and headers together are too large',
  'too-many-requests': 'the limit of requests is reached; retry after `Retry-After`',
  'too-many-invalid-keys': 'too many invalid keys came from this address',
  'too-many-payments': 'too many payments from this address, or for this challenge, were refused',
  'too-many-streams': 'the limit of open streams is reached',
  internal: 'a fault of the service; its log has the details',
  unavailable: 'the data cannot be read at the moment',
  overloaded: 'the service has more requests than it can answer',
  ending: 'this process is shutting down; another one may answer',
  'webhooks-not-configured': 'the operator has not set up webhooks',
} as const

export type ProblemKind = keyof typeof PROBLEM_KINDS

/** The type of a problem of this service's own. */
export const typeOf = (kind: ProblemKind): string => `urn:plumbline:problem:${kind}`
