/** Base of every error that the devnet throws on purpose. `retryable`: the same call may succeed later. */
export class DevnetError extends Error {
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = new.target.name
    this.retryable = options.retryable
  }
}
