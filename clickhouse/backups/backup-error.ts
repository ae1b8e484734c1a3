import { PlumblineError } from '../../process/errors.js'

/** A backup or a restore that would not succeed if it were repeated as it was. */
export class BackupError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: false })
  }
}
