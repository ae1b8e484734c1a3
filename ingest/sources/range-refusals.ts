import { BaseError, HttpRequestError, TimeoutError } from 'viem'

/** How nodes and providers refuse an eth_getLogs with too many blocks or too many results. */
const REFUSALS = [
  // Reth, Geth, Erigon, Nethermind and Besu, as providers configure them.
  /query (exceeds|returned) (max|more than)/i,
  /exceeds? (the )?(max(imum)?|limit|range)/i,
  /(block|log|query) range (is )?(too (large|wide|big)|exceed|limit|greater)/i,
  /(too many|more than \d+) (results|logs|blocks)/i,
  // Alchemy, Infura, QuickNode, Ankr, Chainstack, Cloudflare, dRPC.
  /log response size exceeded/i,
  /response (size|is) (should not|too|exceed|larger)/i,
  /limited to (a |an )?[\d,]+( block)? (range|blocks?)/i,
  /limited to [\d,]+ (results|logs)/i,
  /(maximum|max) (allowed )?(block )?range/i,
  /range (should|must) (be|not)/i,
  /(query timeout|timed? ?out|timeout) exceeded/i,
  /result set (is )?too large/i,
  /content(-| )length.*too large|payload too large|body too large/i,
]
// EIP-1474: limit exceeded. Some providers also return it for rate limits; the pause after a failure deals with those.
const LIMIT_EXCEEDED = -32005

const causesOf = (error: unknown): unknown[] =>
  error instanceof Error ? [error, ...causesOf(error.cause)] : error === undefined ? [] : [error]

// viem's own message also contains the URL and the request.
const textOf = (error: unknown): string =>
  error instanceof BaseError ? error.details : error instanceof Error ? error.message : String(error)

/** Whether an eth_getLogs was refused for its number of blocks or results, so that fewer blocks may succeed. */
export function isRangeRefused(error: unknown): boolean {
  const causes = causesOf(error)
  if (causes.some(isRateLimited)) return false
  return causes.some((cause) => {
    if (typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === LIMIT_EXCEEDED) return true
    if (cause instanceof HttpRequestError && cause.status === 413) return true
    return REFUSALS.some((refusal) => refusal.test(textOf(cause)))
  })
}

/** Whether the node did not answer in time; fewer blocks may or may not help. */
export const isTimeout = (error: unknown): boolean => causesOf(error).some((cause) => cause instanceof TimeoutError)

const isRateLimited = (cause: unknown): boolean =>
  (cause instanceof HttpRequestError && cause.status === 429) ||
  /rate limit|too many requests|per second/i.test(textOf(cause))

/** How long the node asks to wait (Retry-After), in milliseconds, at most a minute; 0 if it does not say. */
export function retryAfterMs(error: unknown, now: number): number {
  const refusal = causesOf(error).find((cause) => cause instanceof HttpRequestError)
  const header = refusal instanceof HttpRequestError ? refusal.headers?.get('retry-after') : null
  if (!header) return 0
  // RFC 9110: seconds, or a date.
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), 60_000)
}
