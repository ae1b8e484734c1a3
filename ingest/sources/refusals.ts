import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'

const causesOf = (error: unknown): unknown[] =>
  error instanceof Error ? [error, ...causesOf(error.cause)] : error === undefined ? [] : [error]

// viem's own message also contains the URL and the request. Some nodes say what is wrong in the data of the error alone.
const textOf = (error: unknown): string => {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.message : String(error)
  return 'data' in error && error.data ? `${error.details} ${JSON.stringify(error.data)}` : error.details
}

/** A number that counts results, bytes or time, and no blocks. */
const OTHER_COUNTS =
  /(results?|logs)[ :]+[\d,]+|[\d,]+ ?k? ?(results|logs|bytes|[kmg]b|ms|milliseconds|s|seconds|parameters)\b/gi

/**
 * How many blocks an error of a node seems to offer instead of `range`: those of the range that it suggests, else the
 * largest smaller number that it names, unless that counts something else; null if it names none. A page of a gateway
 * offers nothing.
 */
export function offeredBlocks(error: unknown, { from, to }: BlockRange): number | null {
  const answers = causesOf(error).filter((cause) => cause instanceof RpcRequestError)
  const text = answers.map(textOf).join(' ')
  const blocks = to - from + 1
  for (const [, first, last] of text.matchAll(/(0x[\da-f]+|\d+)(?:, ?| ?- ?| to )(0x[\da-f]+|\d+)/gi)) {
    const [a, b] = [Number(first), Number(last)]
    if (a >= from && b >= a && b <= to && b - a + 1 < blocks) return b - a + 1
  }
  if (!/block|range/i.test(text)) return null
  const named = text
    .replaceAll(/0x[\da-f]+/gi, '')
    .replaceAll(OTHER_COUNTS, '')
    .matchAll(/(?<![\w-])(\d[\d,]*)(k?)\b/gi)
  const sizes = [...named].map(([, digits, k]) => Number(digits?.replaceAll(',', '')) * (k ? 1000 : 1))
  const fitting = sizes.filter((size) => size >= 1 && size < blocks)
  return fitting.length > 0 ? Math.max(...fitting) : null
}

/** Whether the node did not answer in time. */
export const isTimeout = (error: unknown): boolean => causesOf(error).some((cause) => cause instanceof TimeoutError)

/** Whether the node answered a call with an error, or with more than is read. */
export const isAnswered = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) =>
      cause instanceof RpcRequestError ||
      cause instanceof ResponseBodyTooLargeError ||
      (cause instanceof HttpRequestError && cause.status === 413),
  )

/** Whether the node refuses because it was asked too often. */
export const isRateLimited = (error: unknown): boolean => causesOf(error).some(limitsRate)

const limitsRate = (cause: unknown): boolean =>
  (cause instanceof HttpRequestError && (cause.status === 429 || isBusy(cause))) ||
  (cause instanceof RpcRequestError && cause.code === 429) ||
  /rate[- ]?limit|(request|call) rate|too many requests|per second|throttl/i.test(textOf(cause))

const isBusy = ({ status, headers }: HttpRequestError): boolean => status === 503 && !!headers?.get('retry-after')

/** How long the node asks to wait (Retry-After, or in words), in milliseconds, at most a minute; 0 if it does not say. */
export function retryAfterMs(error: unknown, now: number): number {
  const refusal = causesOf(error).find((cause) => cause instanceof HttpRequestError)
  const header = refusal instanceof HttpRequestError ? refusal.headers?.get('retry-after') : null
  // RFC 9110: seconds, or a date.
  const ms = !header ? saidMs(error) : /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), 60_000)
}

const UNITS = { ms: 1, s: 1000, m: 60_000 } as const

/** "retry in 10s", as some nodes say it in a rate limit. */
function saidMs(error: unknown): number {
  const causes = causesOf(error)
  if (!causes.some(limitsRate)) return 0
  const match = /(?:retry|again) (?:in|after) (\d+)(ms|s|m)/i.exec(causes.map(textOf).join(' '))
  return match ? Number(match[1]) * UNITS[match[2]?.toLowerCase() as keyof typeof UNITS] : 0
}

/** Most characters that are logged of a failure: a node may answer with a whole page. */
const REASON_LENGTH = 300

/** Why a request failed. viem's own message continues with the URL, which may contain a key, and the whole request. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.message : String(error)
  const parts = new Set([error.shortMessage, error.details])
  return [...parts].filter(Boolean).join(' ').split('\n').join(' ').slice(0, REASON_LENGTH)
}
