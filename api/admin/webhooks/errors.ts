import { ProblemError } from '../../http/errors.js'

/** What is asked for would be possible, if not for the state that something is in. `kind` is the last part of the problem's type. */
export class ConflictError extends ProblemError {
  constructor(kind: 'webhook-disabled' | 'too-many-webhooks', detail: string) {
    super(detail, { status: 409, kind })
  }
}

/** An Idempotency-Key came with another body before: this is no repeat of that request. */
export class ReusedKeyError extends ProblemError {
  constructor() {
    super('this Idempotency-Key was already used with a different body; use a new key for a new request', {
      status: 422,
      kind: 'idempotency-key-reused',
    })
  }
}

/** This service has nothing to seal the secrets of webhooks with. */
export class WebhooksNotConfiguredError extends ProblemError {
  constructor() {
    super('webhooks are not configured: this service was started without SECRETS_KEY', {
      status: 503,
      kind: 'webhooks-not-configured',
    })
  }
}
