import { PlumblineError } from '../../process/errors.js'
import type { ParameterFault } from './validation.js'

/** What the answer to a request that failed is made of, besides the words. */
type ProblemTerms = {
  status: number
  /** Last part of the problem's type. */
  kind: string
  /** The whole type, where it is not one of ours. */
  type?: string
  /** Whether the same request may succeed later. */
  retryable?: boolean
  headers?: Record<string, string | string[]>
  /** Parameters that are at fault. */
  faults?: ParameterFault[]
  /** What the request costs, in whole units of the currency. */
  price?: { price: string; currency: string }
  /** Whether the log has to have it; where left out, when the fault is on this side. */
  isLogged?: boolean
  cause?: unknown
}

/** A client may try again after this many seconds when something is away or overloaded. */
const RETRY_AFTER_SECONDS = 5

/** The header field that says when to try again. */
export const retryAfter = (seconds = RETRY_AFTER_SECONDS): Record<string, string> => ({ 'retry-after': `${seconds}` })

/** Of an answer that depends on who asks: no cache may keep it. */
export const NO_STORE = { 'cache-control': 'no-store' }

/** What asks for a key. The scheme is RFC 6750's. */
export const BEARER_CHALLENGE = 'Bearer realm="plumbline"'

/** The header fields of an answer to a request that has to come with a key, or with another one. */
export const askForKey = (parameters = ''): Record<string, string> => ({
  ...NO_STORE,
  'www-authenticate': `${BEARER_CHALLENGE}${parameters}`,
})

/** An error that knows the problem document it is answered with. Its message is the document's `detail`. */
export class ProblemError extends PlumblineError {
  readonly status: number
  /** The problem's type. */
  readonly type: string
  readonly headers: Record<string, string | string[]>
  readonly faults: readonly ParameterFault[]
  readonly price: { price: string; currency: string } | undefined
  readonly isLogged: boolean

  constructor(detail: string, terms: ProblemTerms) {
    const { status, kind, type = `urn:plumbline:problem:${kind}`, retryable = false, cause } = terms
    super(detail, { retryable, cause })
    this.status = status
    this.type = type
    this.headers = terms.headers ?? {}
    this.faults = terms.faults ?? []
    this.price = terms.price
    this.isLogged = terms.isLogged ?? status >= 500
  }
}

/** Parameters of the request, or fields of its body, are not as their route takes them. */
export class InvalidRequestError extends ProblemError {
  constructor(faults: ParameterFault[]) {
    const detail = faults.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ')
    super(detail, { status: 400, kind: 'bad-parameter', faults })
  }
}

type Missing =
  | 'unknown-route'
  | 'unknown-stable'
  | 'unknown-key'
  | 'unknown-webhook'
  | 'unknown-delivery'
  | 'before-history'

/** What was asked for does not exist. `kind` is the last part of the problem's type. */
export class NotFoundError extends ProblemError {
  constructor(kind: Missing, detail: string, parameter?: string) {
    super(detail, { status: 404, kind, ...(parameter !== undefined && { faults: [{ parameter, detail }] }) })
  }
}

/** What came in the Authorization header is no valid key. The message never has what came. */
export class InvalidKeyError extends ProblemError {
  constructor() {
    super('the Authorization header does not contain a valid key', {
      status: 401,
      kind: 'invalid-key',
      headers: askForKey(', error="invalid_token"'),
    })
  }
}

/** The route is not for everybody, and the request came without a key. */
export class MissingKeyError extends ProblemError {
  constructor() {
    super('the admin key is required as a bearer token', { status: 401, kind: 'missing-key', headers: askForKey() })
  }
}

/** The key that came is valid, but not for this route. */
export class ForbiddenError extends ProblemError {
  constructor() {
    super('the admin key is required; this key does not give access', {
      status: 403,
      kind: 'forbidden',
      headers: askForKey(', error="insufficient_scope"'),
    })
  }
}

/** The caller has used up the requests of this minute, and has new ones after `retryAfterSeconds`. */
export class TooManyRequestsError extends ProblemError {
  constructor(limit: number, retryAfterSeconds: number) {
    super(`rate limit of ${limit} requests per minute exceeded; retry in ${retryAfterSeconds} s`, {
      status: 429,
      kind: 'too-many-requests',
      headers: { ...NO_STORE, ...retryAfter(retryAfterSeconds) },
    })
  }
}

/** The process has more to do than it can do in time. */
export class OverloadedError extends ProblemError {
  constructor() {
    super('the service is overloaded; try again later', {
      status: 503,
      kind: 'overloaded',
      retryable: true,
      headers: retryAfter(),
    })
  }
}

/** The path exists, but not with this method. `allow` goes into the header of that name. */
export class MethodNotAllowedError extends ProblemError {
  constructor(method: string, allow: string) {
    super(`${method} is not allowed here; the allowed methods are ${allow}`, {
      status: 405,
      kind: 'method-not-allowed',
      headers: { allow },
    })
  }
}

/** The request's URL is longer than that of anything that could be answered. */
export class UrlTooLongError extends ProblemError {
  constructor() {
    super('the URL is too long', { status: 414, kind: 'url-too-long' })
  }
}

/** The process is about to end. Another one can be asked. */
export class DrainingError extends ProblemError {
  constructor() {
    super('this process is shutting down', {
      status: 503,
      kind: 'ending',
      retryable: true,
      headers: retryAfter(),
      isLogged: false,
    })
  }
}

/** Something that the answer needs is away. What exactly is in the log, as `cause`, and not in the answer. */
export class UnavailableError extends ProblemError {
  constructor(cause: unknown, detail = 'the data cannot be read at the moment; try again') {
    super(detail, { status: 503, kind: 'unavailable', retryable: true, headers: retryAfter(), cause })
  }
}
