import type { Coverage, Problem } from './types.js'

/** Any failure of a request, apart from one that you aborted: that throws the reason of your signal. */
export class PlumblineError extends Error {
  /** The URL of the request. */
  readonly url: string
  /**
   * The header fields of the payment that was made for this request, if one was. What is paid stays paid: make the same
   * request with them as `headers`, and it is answered without a second payment.
   */
  declare payment?: Readonly<Record<string, string>>

  constructor(message: string, { url, cause }: { url: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.url = url
  }
}

/** No answer: the service cannot be reached, or the connection was lost. `cause` is the error of `fetch`. */
export class ConnectionError extends PlumblineError {}

/** No answer in time. */
export class TimeoutError extends ConnectionError {}

/** A successful answer that does not come from this API, such as a page of a proxy. */
export class UnexpectedAnswerError extends PlumblineError {}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** An answer that is not a success. `problem`: the document in its body, if there is one. */
export type Failure = { url: string; status: number; headers: Headers; body: string; problem: Partial<Problem> }

/** An answer that is not a success. Problems that this version does not know have this class, or that of their status. */
export class ProblemError extends PlumblineError {
  readonly status: number
  readonly headers: Headers
  /** The problem document (RFC 9457). Empty if the answer has none, as those of proxies. */
  readonly problem: Partial<Problem>
  /** The body as it came. */
  readonly body: string

  constructor({ url, status, headers, body, problem }: Failure) {
    super(text(problem.detail) ?? `the answer has the status ${status}`, { url })
    this.status = status
    this.headers = headers
    this.problem = problem
    this.body = body
  }

  /** Identifies the kind of problem, such as `urn:plumbline:problem:unknown-stable`; `about:blank` if it is not named. */
  get type(): string {
    return text(this.problem.type) ?? 'about:blank'
  }

  /** By this, the operator finds the request in the log. */
  get requestId(): string | null {
    return this.headers.get('x-request-id')
  }

  /** For how long the service asks you to wait before the next request; null if it does not. */
  get retryAfterMs(): number | null {
    const value = this.headers.get('retry-after')
    if (value === null) return null
    const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
    return Number.isNaN(ms) ? null : Math.max(0, ms)
  }
}

/** 400: the request is invalid. */
export class BadRequestError extends ProblemError {}

/** 400: parameters are invalid, or not known to this version of the service. */
export class BadParameterError extends BadRequestError {
  /** The invalid parameters, each with what is wrong with it. */
  get errors(): readonly { parameter: string; detail: string }[] {
    return Array.isArray(this.problem.errors) ? this.problem.errors : []
  }
}

/** 401: the key is invalid, or missing. */
export class InvalidKeyError extends ProblemError {}

/** 402: the answer costs something, and nothing was paid. */
export class PaymentRequiredError extends ProblemError {
  /** The price in whole units of any of `currencies`. */
  get price(): string | undefined {
    return text(this.problem.price)
  }

  /** Address of the stable that the service prefers. */
  get currency(): string | undefined {
    return text(this.problem.currency)
  }

  /** Addresses of all stables to pay with, preferred first; empty if the service takes no payments. */
  get currencies(): readonly string[] {
    return Array.isArray(this.problem.currencies) ? this.problem.currencies.map(String) : []
  }

  /** How complete the answer is that is for sale. */
  get coverage(): Coverage | undefined {
    return this.problem.coverage
  }
}

/** 402: the service refuses the payment that came with the request. `type` says why. */
export class PaymentRefusedError extends PaymentRequiredError {}

/** 402: the account of the payer cannot pay the price and the fee. Nothing was charged. */
export class InsufficientFundsError extends PaymentRefusedError {}

/** 403: the key does not give access to this. */
export class ForbiddenError extends ProblemError {}

/** 404 */
export class NotFoundError extends ProblemError {}

/** 404: this address is not a tracked stable. */
export class UnknownStableError extends NotFoundError {}

/** 404: the time is before the first that is known. */
export class BeforeHistoryError extends NotFoundError {}

/** 404: this version of the service does not have the route. */
export class UnknownRouteError extends NotFoundError {}

/** 409: another request is using the same payment. */
export class PaymentInUseError extends ProblemError {}

/** 429: too many requests, streams or refused payments. `type` says which. */
export class TooManyRequestsError extends ProblemError {}

/** 500 and above. */
export class ServerError extends ProblemError {}

/** 503: the service cannot answer at the moment. */
export class UnavailableError extends ServerError {}
