import type { Coverage } from '../../clickhouse/chain/coverage.js'
import { PlumblineError } from '../../process/errors.js'
import { helpOf, type ProblemKind, typeOf } from './problem-kinds.js'
import type { ParameterFault } from './validation.js'

/** In whole units. `currency` is the preferred one of `currencies`, which are those that payments are taken in. */
type Price = { price: string; currency: string; currencies?: readonly string[] }

/** The parts of a problem document besides its text. */
type ProblemTerms = {
  status: number
  /** Its kind, or the whole type if it is not one of ours. */
  kind: ProblemKind | { type: string }
  /** Whether the same request may succeed later. */
  retryable?: boolean
  headers?: Record<string, string | string[]>
  /** The invalid parameters. */
  faults?: ParameterFault[]
  /** The price of the request. */
  price?: Price
  /** Whether it is logged; if omitted, when the fault is on this side. */
  isLogged?: boolean
  cause?: unknown
}

/** Seconds after which a client may retry when something is unreachable or overloaded. */
const RETRY_AFTER_SECONDS = 5

/** The header field for the time of a retry. */
export const retryAfter = (seconds = RETRY_AFTER_SECONDS): Record<string, string> => ({ 'retry-after': `${seconds}` })

/** For answers that depend on the caller: no cache may store them. */
export const NO_STORE = { 'cache-control': 'no-store' }

/** The challenge for a key. The scheme is RFC 6750's. */
export const BEARER_CHALLENGE = 'Bearer realm="plumbline"'

/** The header fields of an answer that asks for a key, or for another one. */
export const askForKey = (parameters = ''): Record<string, string> => ({
  ...NO_STORE,
  'www-authenticate': `${BEARER_CHALLENGE}${parameters}`,
})

/** An error with its problem document. Its message is the document's `detail`. */
export class ProblemError extends PlumblineError {
  readonly status: number
  /** The problem's type. */
  readonly type: string
  /** Path of the section of the documentation that explains it. */
  readonly help: string
  readonly headers: Record<string, string | string[]>
  readonly faults: readonly ParameterFault[]
  readonly price: Price | undefined
  readonly isLogged: boolean
  /** With 402: the coverage of the answer that is for sale. */
  coverage: Coverage | null = null

  constructor(detail: string, terms: ProblemTerms) {
    const { status, kind, retryable = false, cause } = terms
    super(detail, { retryable, cause })
    this.status = status
    this.type = typeof kind === 'string' ? typeOf(kind) : kind.type
    this.help = helpOf(kind)
    this.headers = terms.headers ?? {}
    this.faults = terms.faults ?? []
    this.price = terms.price
    this.isLogged = terms.isLogged ?? status >= 500
  }
}

/** Parameters of the request, or fields of its body, are invalid. */
export class InvalidRequestError extends ProblemError {
  constructor(faults: ParameterFault[]) {
    const detail = faults.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ')
    super(detail, { status: 400, kind: 'bad-parameter', faults })
  }
}

type Missing = Extract<ProblemKind, `unknown-${string}` | 'before-history'>

/** The requested object does not exist. `kind` is the last part of the problem's type. */
export class NotFoundError extends ProblemError {
  constructor(kind: Missing, detail: string, parameter?: string) {
    super(detail, { status: 404, kind, ...(parameter !== undefined && { faults: [{ parameter, detail }] }) })
  }
}

const INVALID_TOKEN = ', error="invalid_token"'

/**
 * The Authorization header contains no valid key. The message never repeats the header. `challenges` are those of
 * payments that would be accepted instead.
 */
export class InvalidKeyError extends ProblemError {
  constructor(challenges: readonly string[] = []) {
    super('the Authorization header does not contain a valid key', {
      status: 401,
      kind: 'invalid-key',
      headers:
        challenges.length === 0
          ? askForKey(INVALID_TOKEN)
          : { ...NO_STORE, 'www-authenticate': [...challenges, `${BEARER_CHALLENGE}${INVALID_TOKEN}`] },
    })
  }
}

/** An address has sent too many invalid keys in this minute. */
export class TooManyInvalidKeysError extends ProblemError {
  constructor(retryAfterSeconds: number) {
    super(`too many invalid keys from this address; retry in ${retryAfterSeconds} s`, {
      status: 429,
      kind: 'too-many-invalid-keys',
      headers: { ...NO_STORE, ...retryAfter(retryAfterSeconds) },
    })
  }
}

/** The route requires a key, and the request has none. */
export class MissingKeyError extends ProblemError {
  constructor() {
    super('the admin key is required as a bearer token', { status: 401, kind: 'missing-key', headers: askForKey() })
  }
}

/** The key is valid, but not for this route. */
export class ForbiddenError extends ProblemError {
  constructor() {
    super('the admin key is required; this key does not give access', {
      status: 403,
      kind: 'forbidden',
      headers: askForKey(', error="insufficient_scope"'),
    })
  }
}

/** The caller has used up the requests of this minute, and may retry after `retryAfterSeconds`. */
export class TooManyRequestsError extends ProblemError {
  constructor(limit: number, retryAfterSeconds: number) {
    super(`rate limit of ${limit} requests per minute exceeded; retry in ${retryAfterSeconds} s`, {
      status: 429,
      kind: 'too-many-requests',
      headers: { ...NO_STORE, ...retryAfter(retryAfterSeconds) },
    })
  }
}

/** The process has more work than it can finish in time. */
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

/** The URL is longer than any valid one. */
export class UrlTooLongError extends ProblemError {
  constructor() {
    super('the URL is too long', { status: 414, kind: 'url-too-long' })
  }
}

/** None of the requested bytes exists: the answer has `size`. */
export class RangeNotSatisfiableError extends ProblemError {
  constructor(size: number) {
    super(`Range names no byte of this answer, which has ${size}`, {
      status: 416,
      kind: 'range-not-satisfiable',
      headers: { 'content-range': `bytes */${size}` },
    })
  }
}

/** The process is shutting down. Another one may answer. */
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

/** Something that the answer needs is unreachable. The details are in the log, as `cause`, and not in the answer. */
export class UnavailableError extends ProblemError {
  constructor(cause: unknown, detail = 'the data cannot be read at the moment; try again') {
    super(detail, { status: 503, kind: 'unavailable', retryable: true, headers: retryAfter(), cause })
  }
}
