import { PlumblineError } from './errors.js'

/** A request's parameter has a value that cannot be answered. The message says what would be accepted. */
export class BadParameterError extends PlumblineError {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message, { retryable: false })
    this.parameter = parameter
  }
}
