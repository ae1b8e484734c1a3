import { PlumblineError } from '../../process/errors.js'
import type { ParameterFault } from './validation.js'

/** Parameters of the request, or fields of its body, are not as their route takes them. */
export class InvalidRequestError extends PlumblineError {
  readonly faults: ParameterFault[]

  constructor(faults: ParameterFault[]) {
    super(faults.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; '), { retryable: false })
    this.faults = faults
  }
}

/** What was asked for does not exist. `kind` is the last part of the problem's type. */
export class NotFoundError extends PlumblineError {
  readonly kind:
    | 'unknown-route'
    | 'unknown-stable'
    | 'unknown-key'
    | 'unknown-webhook'
    | 'unknown-delivery'
    | 'before-history'
  readonly parameter: string | undefined

  constructor(kind: NotFoundError['kind'], message: string, parameter?: string) {
    super(message, { retryable: false })
    this.kind = kind
    this.parameter = parameter
  }
}

/** The route costs something, the request came without a key, and this service takes no payments. */
export class PaymentRequiredError extends PlumblineError {
  /** In whole units of the reference stable. */
  readonly price: string

  constructor(price: string) {
    super(`this needs a subscription key (scope paid) as a bearer token: payments of ${price} are not taken here`, {
      retryable: false,
    })
    this.price = price
  }
}

/** The route can be paid for, and what came with the request does not: the challenge says what would. */
export class PaymentRefusedError extends PlumblineError {
  /** The last part of the problem's type at paymentauth.org. */
  readonly kind: string
  /** In whole units of the currency. */
  readonly price: string
  readonly currency: string
  /** For the header WWW-Authenticate. */
  readonly challenge: string
  /** When to present the same payment again, where that helps. */
  readonly retryAfterSeconds: number | undefined

  constructor(refusal: {
    kind: string
    detail: string
    price: string
    currency: string
    challenge: string
    retryAfterSeconds?: number
  }) {
    super(refusal.detail, { retryable: false })
    this.kind = refusal.kind
    this.price = refusal.price
    this.currency = refusal.currency
    this.challenge = refusal.challenge
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** A credential is in use by another request: it is not known yet which one gets the answer. */
export class PaymentInUseError extends PlumblineError {
  readonly retryAfterSeconds: number

  constructor(forMs: number) {
    super('another request uses this payment; present it again later', { retryable: true })
    this.retryAfterSeconds = Math.ceil(forMs / 1000)
  }
}

/**
 * The chain cannot be asked about a payment. What is paid stays paid: the same credential gets its answer later. `reason`
 * goes to the log, which writes out an error with all of its causes: those of a request to a node have its URL and body.
 */
export class PaymentsAwayError extends PlumblineError {
  constructor(reason: string) {
    super('the chain that payments are made on cannot be reached; present the same payment again', {
      retryable: true,
      cause: new Error(reason),
    })
  }
}

/** What came in the Authorization header is no valid key. The message never has what came. */
export class InvalidKeyError extends PlumblineError {
  constructor() {
    super('the Authorization header has no valid key', { retryable: false })
  }
}

/** The route is not for everybody, and the request came without a key. */
export class MissingKeyError extends PlumblineError {
  constructor() {
    super('this needs the admin key as a bearer token', { retryable: false })
  }
}

/** The key that came is valid, but not for this route. */
export class ForbiddenError extends PlumblineError {
  constructor() {
    super('this key does not open this, only the admin key does', { retryable: false })
  }
}

/** The caller has used up his requests of this minute. */
export class TooManyRequestsError extends PlumblineError {
  /** When he has new ones. */
  readonly retryAfterSeconds: number

  constructor(limit: number, retryAfterSeconds: number) {
    super(`more than ${limit} requests in a minute, as this one counts; go on in ${retryAfterSeconds} s`, {
      retryable: false,
    })
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The process has more to do than it can do in time. */
export class OverloadedError extends PlumblineError {
  constructor() {
    super('too much is asked of the service at the moment; try again', { retryable: true })
  }
}

/** The path exists, but not with this method. `allow` goes into the header of that name. */
export class MethodNotAllowedError extends PlumblineError {
  readonly allow: string

  constructor(method: string, allow: string) {
    super(`${method} is not possible here, only ${allow}`, { retryable: false })
    this.allow = allow
  }
}

/** The request's URL is longer than that of anything that could be answered. */
export class UrlTooLongError extends PlumblineError {
  constructor() {
    super('the URL is too long', { retryable: false })
  }
}

/** The process is about to end. Another one can be asked. */
export class DrainingError extends PlumblineError {
  constructor() {
    super('this process is about to end', { retryable: true })
  }
}

/** One client has as many streams open as it may have. */
export class TooManyStreamsError extends PlumblineError {
  constructor(most: number, kind: 'address' | 'key') {
    const whose = kind === 'key' ? 'with this key' : 'from this address'
    super(`${most} streams are open ${whose} already, which is the most that there may be`, { retryable: false })
  }
}

/** What is asked for would be possible, if not for the state that something is in. `kind` is the last part of the problem's type. */
export class ConflictError extends PlumblineError {
  readonly kind: 'webhook-disabled' | 'too-many-webhooks'

  constructor(kind: ConflictError['kind'], message: string) {
    super(message, { retryable: false })
    this.kind = kind
  }
}

/** An Idempotency-Key came with another body before: this is no repeat of that request. */
export class ReusedKeyError extends PlumblineError {
  constructor() {
    super('this Idempotency-Key was sent with another body before; a new request needs a new key', {
      retryable: false,
    })
  }
}

/** This service has nothing to seal the secrets of webhooks with. */
export class WebhooksNotConfiguredError extends PlumblineError {
  constructor() {
    super('webhooks need SECRETS_KEY, which this service was started without', { retryable: false })
  }
}
