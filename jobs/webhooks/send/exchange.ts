import { type Dispatcher, errors } from 'undici'
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
function exchangeError(error: unknown): string {
  if (error instanceof TargetError) return error.message
  // Some of these have no code.
  if (error instanceof errors.HTTPParserError) return 'invalid response'
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'failed'
  return WORDS[code] ?? code
}

const EXCERPT_BYTES = 1024

/**
 * The first bytes of a body as text that can be shown anywhere: at most 1 KiB of UTF-8. Control characters, also those that
 * turn the direction of writing, become spaces; what is no UTF-8 becomes question marks.
 */
export function excerptOf(body: Buffer): string {
  // As a stream: a character that the limit cuts in two is left out.
  const text = new TextDecoder().decode(body.subarray(0, EXCERPT_BYTES), { stream: body.length > EXCERPT_BYTES })
  return text
    .replaceAll('\ufffd', '?')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, ' ')
    .trim()
}

/** What came of a request. */
export type Outcome = {
  /** Of the response; null where there was none. */
  status: number | null
  /** Why there was no response, or none that counts; one of few texts, none of the receiver's. Null where one came. */
  error: string | null
  /** The first bytes of its body as text that can be shown, at most 1 KiB. */
  response: string
  /** The header as it came. */
  retryAfter: string | null
}

/** Of a longer response, the rest is not read, and its connection is closed. */
const MOST_READ_BYTES = 64 * 1024

const LONGEST_RETRY_AFTER = 100

/** Ends a request whose outcome is known. Nobody is told of it. */
const OVER = new Error('the exchange is over')

/**
 * Sends a request and reads the first part of its response. Over after `timeoutMs` whatever it is doing: a request that is
 * still waiting for its connection is then never sent. A response that breaks off or is too long has still been given: its
 * status counts. Never rejects.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null
    let isOver = false
    let status: number | null = null
    let retryAfter: string | null = null
    const chunks: Buffer[] = []
    let bytes = 0

    const end = (error: string | null): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resolve({ status, error, response: excerptOf(Buffer.concat(chunks)), retryAfter })
    }
    const answered = (): void =>
      end(status !== null && status >= 300 && status < 400 ? 'redirects are not followed' : null)
    const timer = setTimeout(() => {
      end('timeout')
      controller?.abort(OVER)
    }, timeoutMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started
        if (isOver) started.abort(OVER)
      },
      onResponseStart: (_, statusCode, headers) => {
        // Interim responses come before the one.
        if (statusCode < 200) return
        status = statusCode
        retryAfter = [headers['retry-after']].flat()[0]?.slice(0, LONGEST_RETRY_AFTER) ?? null
      },
      onResponseData: (reading, chunk) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes < MOST_READ_BYTES) return
        answered()
        reading.abort(OVER)
      },
      onResponseEnd: answered,
      onResponseError: (_, error) => (status === null ? end(exchangeError(error)) : answered()),
    }
    try {
      dispatcher.dispatch(request, handler)
    } catch (error) {
      end(exchangeError(error))
    }
  })
}
