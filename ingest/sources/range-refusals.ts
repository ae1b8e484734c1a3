import { BaseError, HttpRequestError, TimeoutError } from 'viem'
import type { BlockRange } from '../chain/block-ranges.js'

/** How nodes and providers refuse an eth_getLogs with too many blocks or too many results. */
const REFUSALS = [
  // Reth, Geth, Erigon, Nethermind and Besu, as providers configure them.
  /query (exceeds|returned) (max|more than)/i,
  /exceeds? (the )?(max(imum)?|limit|range)/i,
  /(blocks?|logs?|query) range (is )?(too (large|wide|big|high|long)|exceed|limit|greater|bigger|larger)/i,
  /(too many|more than \d+) (results|logs|blocks)/i,
  // Alchemy, Infura, QuickNode, Ankr, Chainstack, Cloudflare, dRPC.
  /log response size exceeded/i,
  /response (size |is )?(should not|too|exceed|larger)/i,
  /limited to (a |an )?[\d,]+( block)? (range|blocks?)/i,
  /limited to [\d,]+ (results|logs)/i,
  /(maximum|max) (allowed )?(block )?range/i,
  /range (should|must) (be|not)/i,
  /(range|query) (threshold exceeded|must be smaller)/i,
  /bigger than range limit|exceeded max allowed|blocks distance/i,
  /range_too_large|too_many_results/i,
  /(query timeout|timed? ?out|timeout) exceeded/i,
  /result set (is )?too large/i,
  /content(-| )length.*too large|payload too large|body too large/i,
]
// EIP-1474: limit exceeded. Some providers also return it for rate limits; the pause after a failure deals with those.
const LIMIT_EXCEEDED = -32005

const causesOf = (error: unknown): unknown[] =>
  error instanceof Error ? [error, ...causesOf(error.cause)] : error === undefined ? [] : [error]

// viem's own message also contains the URL and the request. Some nodes say what is wrong in the data of the error alone.
const textOf = (error: unknown): string => {
  if (!(error instanceof BaseError)) return error instanceof Error ? error.message : String(error)
  return 'data' in error && error.data ? `${error.details} ${JSON.stringify(error.data)}` : error.details
}

/** Whether an eth_getLogs was refused for its number of blocks or results, so that fewer blocks may succeed. */
export function isRangeRefused(error: unknown): boolean {
  const causes = causesOf(error)
  if (causes.some(limitsRate)) return false
  return causes.some((cause) => {
    if (typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === LIMIT_EXCEEDED) return true
    if (cause instanceof HttpRequestError && cause.status === 413) return true
    return REFUSALS.some((refusal) => refusal.test(textOf(cause)))
  })
}

/** A number that counts results, bytes or time, and no blocks. */
const OTHER_COUNTS =
  /(results?|logs)[ :]+[\d,]+|[\d,]+ ?k? ?(results|logs|bytes|[kmg]b|ms|milliseconds|s|seconds|parameters)\b/gi

/**
 * How many blocks a refusal offers instead of `range`: those of the range that it suggests, else the largest smaller
 * number that it names, unless that counts something else; null if it names none.
 */
export function offeredBlocks(error: unknown, { from, to }: BlockRange): number | null {
  const text = causesOf(error).map(textOf).join(' ')
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

/** Whether the node did not answer in time; fewer blocks may or may not help. */
export const isTimeout = (error: unknown): boolean => causesOf(error).some((cause) => cause instanceof TimeoutError)

/** Whether the node refuses because it was asked too often. */
export const isRateLimited = (error: unknown): boolean => causesOf(error).some(limitsRate)

const limitsRate = (cause: unknown): boolean =>
  (cause instanceof HttpRequestError && (cause.status === 429 || isBusy(cause))) ||
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
