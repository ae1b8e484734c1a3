import { errors } from 'undici'
import { TargetError } from '../guard/checked-lookup.js'

/** By code of the error. Messages are not passed on: they may quote addresses, or what the receiver sent. */
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection lost',
  EPIPE: 'connection lost',
  UND_ERR_SOCKET: 'connection lost',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'network unreachable',
  UND_ERR_HEADERS_OVERFLOW: 'invalid response',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid response',
}

/** Why an exchange failed, in one of few texts that hold nothing of the request or the response. */
export function exchangeError(error: unknown): string {
  if (error instanceof TargetError) return error.message
  // Some of these have no code.
  if (error instanceof errors.HTTPParserError) return 'invalid response'
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'failed'
  return WORDS[code] ?? code
}
