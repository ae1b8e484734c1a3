import {
  ConnectionError,
  PaymentRequiredError,
  PlumblineError,
  ProblemError,
  TooManyRequestsError,
  UnavailableError,
} from '../../typescript/src/client.js'
import { UsageError } from './arguments.js'
import { duration, printable } from './text.js'

const HINT = 'see plumbline --help'

/** When the service asks to come back, as the end of a message. */
const again = ({ retryAfterMs }: ProblemError): string =>
  retryAfterMs === null ? '' : `; try again in ${duration(Math.ceil(retryAfterMs / 1000))}`

/** Whether the connection itself failed, and of what. */
function reasonOf({ message, cause }: ConnectionError): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  if (!(inner instanceof Error)) return message
  return `${message} (${'code' in inner ? inner.code : inner.message})`
}

function messageOf(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}; ${HINT}`
  if (error instanceof PaymentRequiredError)
    return `402: this answer costs ${error.price ?? 'something'}; a subscription key in PLUMBLINE_KEY makes it free`
  if (error instanceof TooManyRequestsError) return `429: too many requests${again(error)}`
  if (error instanceof UnavailableError) return `503: the service is not available${again(error)}: ${error.message}`
  if (error instanceof ProblemError) return `${error.status}: ${error.message}`
  if (error instanceof ConnectionError) return `${new URL(error.url).origin}: ${reasonOf(error)}`
  if (error instanceof PlumblineError) return `${new URL(error.url).origin}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}

/** What is printed about a failure: one line, whatever a server wrote. */
export const failureLine = (error: unknown): string => `plumbline: ${printable(messageOf(error))}`
