/** Base of every error this project throws on purpose. `retryable`: the same call may succeed later (503 over HTTP). */
export class PlumblineError extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = new.target.name
    this.retryable = options.retryable
  }
}

/** A request's parameter has a value that cannot be answered. The message says what would be accepted. */
export class BadParameterError extends PlumblineError {
  readonly parameter: string

  constructor(parameter: string, message: string) {
    super(message, { retryable: false })
    this.parameter = parameter
  }
}

/** Starting again would fail in the same way: bad configuration or a contradiction (EX_CONFIG of sysexits.h). */
export const FINAL_EXIT_CODE = 78

/** The exit code of a process that ends with `error`: 1 where starting it again may help, else FINAL_EXIT_CODE. */
export function exitCodeOf(error: unknown): number {
  return error instanceof PlumblineError && !error.retryable ? FINAL_EXIT_CODE : 1
}
