import { Errors } from 'mppx'
import { BaseError, HttpRequestError, TimeoutError, TransactionReceiptNotFoundError } from 'viem'
import { PlumblineError } from '../../../process/errors.js'
import { PaymentsAwayError } from './errors.js'

/** Why a payment is refused. `kind` is the last part of the problem's type. */
export type Refusal = {
  kind: string
  detail: string
  /** When the same credential may be accepted. */
  retryAfterSeconds?: number
  /** Whether this credential will always be refused. */
  isFinal?: boolean
}

/** A credential is refused; the catcher adds the challenge that can be paid instead. */
export class RefusedPayment extends PlumblineError {
  readonly refusal: Refusal

  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.detail, { retryable: false, cause })
    this.refusal = refusal
  }
}

/** The node's message; viem's own message continues with its URL, which may contain a key, and the whole request. */
function nodeMessageOf(error: unknown): string {
  const message = error instanceof BaseError ? `${error.shortMessage} ${error.details}` : String(error ?? '')
  return message.split('\n').join(' ').slice(0, 300)
}

/** Why a payment is refused, for the log. */
export const causeOf = ({ cause }: RefusedPayment): string => nodeMessageOf(cause)

/** Whether the node could not be reached, or did not answer in time. */
const isAway = (error: BaseError): boolean =>
  error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null

/** EIP-7966: the transaction was accepted, but is not in a block yet. */
const NOT_MINED_IN_TIME = 4
const LIMIT_EXCEEDED = -32005

function isUndecided(error: BaseError): boolean {
  const { code } = (error.walk((cause) => typeof (cause as { code?: unknown }).code === 'number') ?? {}) as {
    code?: number
  }
  return code === NOT_MINED_IN_TIME || code === LIMIT_EXCEEDED
}

/** What mppx calls the error of a transaction that is another payment than the challenge asks for. */
const MISMATCH = 'MismatchError'

/**
 * What an error of mppx or of the node means: RefusedPayment if the payment is at fault, PaymentsAwayError if the
 * result is unknown. Anything else is returned unchanged. Nodes' messages may contain their URL and are not passed on.
 */
export function meaningOf(error: unknown): unknown {
  if (error instanceof Errors.PaymentError) {
    const kind = error.type.split('/').at(-1) as string
    const detail = error.message.split('\n', 1)[0] as string
    return new RefusedPayment({ kind, detail, isFinal: error.name === MISMATCH }, error)
  }
  if (!(error instanceof BaseError)) return error
  if (isAway(error) || isUndecided(error)) return new PaymentsAwayError(nodeMessageOf(error))
  if (error.walk((cause) => cause instanceof TransactionReceiptNotFoundError) !== null) {
    const detail = 'the transaction is not yet in a block known to this service; present it again once it is'
    return new RefusedPayment({ kind: 'verification-failed', detail, retryAfterSeconds: 1 }, error)
  }
  if (/insufficient/i.test(`${error.shortMessage} ${error.details} ${error.walk().message}`)) {
    const detail = 'the payer does not have the funds for this payment and its fee'
    return new RefusedPayment({ kind: 'insufficient-funds', detail }, error)
  }
  return new RefusedPayment({ kind: 'verification-failed', detail: 'the chain refuses this payment' }, error)
}
