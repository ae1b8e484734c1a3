/**
 * The kinds of problems that are this service's own, by the last part of their type: what each means, and the section of
 * docs/api.md that says what to do.
 */
export const PROBLEM_KINDS = {
  'bad-parameter': {
    see: 'errors',
    means: 'a parameter, or a field of the body, is invalid; `errors` has all of them',
  },
  'bad-request': { see: 'errors', means: 'not a valid HTTP request, or the body cannot be read' },
  'bad-url': { see: 'errors', means: 'the URL is not properly encoded' },
  'invalid-key': { see: 'keys', means: 'the Authorization header does not contain a valid key' },
  'missing-key': { see: 'keys', means: 'the route requires the admin key' },
  'payment-required': {
    see: 'payments',
    means: 'the route has a price, and this service takes no payments: send a key',
  },
  'insufficient-funds': {
    see: 'payments',
    means: 'the payer’s account cannot pay the price and the fee; nothing was charged',
  },
  'number-too-large': {
    see: 'payments',
    means:
      'the signed transaction has a number that the service cannot send as it was signed, such as a nonce of 2^53 or more; nothing was sent: sign a smaller one, or send it yourself and present its hash',
  },
  forbidden: { see: 'keys', means: 'the key is valid, but not for this route' },
  'unknown-route': { see: 'errors', means: 'there is no such path' },
  'unknown-stable': { see: 'errors', means: 'the address is not a tracked stable' },
  'unknown-key': { see: 'keys', means: 'there is no key with this id' },
  'unknown-webhook': { see: 'managing-webhooks', means: 'there is no subscription with this id' },
  'unknown-delivery': { see: 'managing-webhooks', means: 'there is no delivery with this id' },
  'before-history': {
    see: 'time-travel',
    means: 'nothing is known about that time, or nothing had been published by then',
  },
  'method-not-allowed': { see: 'errors', means: 'the path exists, but not with this method' },
  'too-slow': { see: 'errors', means: 'the request took too long to arrive' },
  'payment-in-use': { see: 'payments', means: 'another request is using this payment; present it again later' },
  'webhook-disabled': { see: 'managing-webhooks', means: 'the subscription is disabled' },
  'too-many-webhooks': { see: 'managing-webhooks', means: 'the limit of subscriptions is reached' },
  'url-too-long': { see: 'errors', means: 'the URL is longer than any valid one' },
  'range-not-satisfiable': { see: 'errors', means: '`Range` names no byte of the answer' },
  'idempotency-key-reused': {
    see: 'managing-webhooks',
    means: 'the same Idempotency-Key was sent with another request',
  },
  'headers-too-large': { see: 'errors', means: 'the URL and headers together are too large' },
  'too-many-requests': { see: 'limits', means: 'the limit of requests is reached; retry after `Retry-After`' },
  'too-many-invalid-keys': { see: 'keys', means: 'too many invalid keys came from this address' },
  'too-many-payments': {
    see: 'payments',
    means: 'too many payments from this address, or for this challenge, were refused',
  },
  'too-many-streams': { see: 'events-and-the-stream', means: 'the limit of open streams is reached' },
  internal: { see: 'errors', means: 'a fault of the service; its log has the details' },
  unavailable: { see: 'caching', means: 'the data cannot be read at the moment' },
  overloaded: { see: 'limits', means: 'the service has more requests than it can answer' },
  ending: { see: 'errors', means: 'this process is shutting down; another one may answer' },
  'webhooks-not-configured': { see: 'managing-webhooks', means: 'the operator has not set up webhooks' },
} as const

export type ProblemKind = keyof typeof PROBLEM_KINDS

/** The type of a problem of this service's own. */
export const typeOf = (kind: ProblemKind): string => `urn:plumbline:problem:${kind}`

/** Path of the served section that explains a problem. The problems that are not ours are refused payments. */
export const helpOf = (kind: ProblemKind | { type: string }): string =>
  `/docs/api#${typeof kind === 'string' ? PROBLEM_KINDS[kind].see : 'payments'}`
