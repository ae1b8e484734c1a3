import { type Dispatcher, errors } from 'undici'
import { TargetError } from '../guard/checked-lookup.js'
import { bodyRetryAfterMs, retryAfterMs } from './retry-after.js'

/** By error code. The errors' own messages are not used: they may quote addresses or the receiver's response. */
const ERROR_TEXTS: Record<string, string> = {
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

/** Why an exchange failed, as one of a few fixed texts that contain nothing from the request or the response. */
function exchangeError(error: unknown): string {
  if (error instanceof TargetError) return error.message
  // Some of these have no code.
  if (error instanceof errors.HTTPParserError) return 'invalid response'
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'failed'
  return ERROR_TEXTS[code] ?? code
}

const EXCERPT_BYTES = 1024

/**
 * The first bytes of a body as text that can be shown anywhere: at most 1 KiB of UTF-8. Control characters, including
 * those that change the writing direction, become spaces; invalid UTF-8 becomes question marks.
 */
export function excerptOf(body: Buffer): string {
  // In stream mode, a character that the limit cuts in two is left out.
  const text = new TextDecoder().decode(body.subarray(0, EXCERPT_BYTES), { stream: body.length > EXCERPT_BYTES })
  return text
    .replaceAll('\ufffd', '?')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, ' ')
    .trim()
}

/** The outcome of a request. */
export type Outcome = {
  /** Status of the response; null if there was none. */
  status: number | null
  /**
   * Why there was no response, or none that counts, as one of a few fixed texts without the receiver's words. Null if
   * there was one.
   */
  error: string | null
  /** The first bytes of the response body, as `excerptOf` returns them. */
  response: string
  /**
   * How long the receiver asks to wait, in milliseconds: by Retry-After or, in a 429, by its body if that asks for longer. Null if
   * it does not.
   */
  waitMs: number | null
}

/** The rest of a longer response is not read, and its connection is closed. */
const MAX_READ_BYTES = 64 * 1024

/** Aborts a request whose outcome is already known. The error is never reported. */
const EXCHANGE_ENDED = new Error('the exchange is over')

/**
 * Sends a request and reads the first part of its response. Ends after `timeoutMs` in any state: a request that is
 * still waiting for its connection is never sent. If a response breaks off, never ends or is too long, its status still
 * counts.
 * Never rejects.
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
    let waitMs: number | null = null
    const chunks: Buffer[] = []
    let bytes = 0

    const end = (error: string | null): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      const body = Buffer.concat(chunks)
      const bodyWaitMs = status === 429 ? bodyRetryAfterMs(body.toString('utf8')) : null
      if (bodyWaitMs !== null) waitMs = Math.max(waitMs ?? 0, bodyWaitMs)
      resolve({ status, error, response: excerptOf(body), waitMs })
    }
    const answered = (): void =>
      end(status !== null && status >= 300 && status < 400 ? 'redirects are not followed' : null)
    const timer = setTimeout(() => {
      if (status === null) end('timeout')
      else answered()
      controller?.abort(EXCHANGE_ENDED)
    }, timeoutMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started
        if (isOver) started.abort(EXCHANGE_ENDED)
      },
      onResponseStart: (_, statusCode, headers) => {
        // Ignore interim responses, which precede the final one.
        if (statusCode < 200) return
        status = statusCode
        waitMs = retryAfterMs([headers['retry-after']].flat()[0] ?? null, new Date())
      },
      onResponseData: (reading, chunk) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes < MAX_READ_BYTES) return
        answered()
        reading.abort(EXCHANGE_ENDED)
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
