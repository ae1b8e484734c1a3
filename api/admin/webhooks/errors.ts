import { ProblemError } from '../../http/errors.js'

/** The request is valid, but the current state does not allow it. `kind` is the last part of the problem's type. */
export class ConflictError extends ProblemError {
  constructor(kind: 'webhook-disabled' | 'too-many-webhooks', detail: string) {
    super(detail, { status: 409, kind })
  }
}

/** The Idempotency-Key was used before with another body, so this is not a repeat. */
export class ReusedKeyError extends ProblemError {
  constructor() {
    super('this Idempotency-Key was already used with a different body; use a new key for a new request', {
      status: 422,
      kind: 'idempotency-key-reused',
    })
  }
}

/** The service has no key to encrypt the secrets of webhooks with. */
export class WebhooksNotConfiguredError extends ProblemError {
  constructor() {
    super('webhooks are not configured: this service was started without SECRETS_KEY', {
      status: 503,
      kind: 'webhooks-not-configured',
    })
  }
}
