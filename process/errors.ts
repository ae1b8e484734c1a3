/** Base of every error this project throws on purpose. `retryable`: the same call may succeed later (503 over HTTP). */
export class PlumblineError extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = new.target.name
    this.retryable = options.retryable
  }
}

/** A parameter of a request has an invalid value. The message says what is accepted. */
export class BadParameterError extends PlumblineError {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message, { retryable: false })
    this.parameter = parameter
  }
}
