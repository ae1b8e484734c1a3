import { PlumblineError } from '../domain/errors.js'

/** What was asked for does not exist. `kind` is the last part of the problem's type. */
export class NotFoundError extends PlumblineError {
  readonly kind: 'unknown-route' | 'unknown-stable' | 'before-history'
  readonly parameter: string | undefined

  constructor(kind: NotFoundError['kind'], message: string, parameter?: string) {
    super(message, { retryable: false })
    this.kind = kind
    this.parameter = parameter
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
