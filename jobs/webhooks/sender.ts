import { Agent, type Dispatcher } from 'undici'
import { type TargetRules, urlProblem } from '../../domain/webhook-target.js'
import { checkedLookup, type Resolve } from './checked-lookup.js'
import { exchangeError } from './exchange-error.js'
import { excerptOf } from './response-excerpt.js'

/** How an attempt went. */
export type Exchange = {
  /** Of the response; null where there was none. */
  status: number | null
  /** Why there was no response, or none that counts; one of few texts, none of the receiver's. Null where one came. */
  error: string | null
  /** The first bytes of its body as text that can be shown, at most 1 KiB. */
  response: string
  /** The header as it came. */
  retryAfter: string | null
  startedAt: Date
  durationMs: number
}

/** Any 2xx that came in time is success. */
export const isSuccess = ({ status, error }: Pick<Exchange, 'status' | 'error'>): boolean =>
  error === null && status !== null && status >= 200 && status < 300

export type Sender = {
  /** Sends one POST of JSON and never rejects. `headers` are those beside Content-Type and User-Agent. */
  send: (request: { url: string; body: string; headers: Record<string, string> }) => Promise<Exchange>
  /** Waits for exchanges that have begun, then closes the connections. */
  close: () => Promise<void>
}

export type SenderOptions = {
  rules: TargetRules
  resolve: Resolve
  /** Over the whole exchange: name, connection, TLS, request, and the part of the response that is read. */
  timeoutMs: number
  userAgent: string
  /** Certificates to trust instead of those that Node does, in PEM. */
  ca?: string
}

/** Of a longer response, the rest is not read, and its connection is closed. */
const MOST_READ_BYTES = 64 * 1024

/** Where a name has several addresses, the next one is tried after this. Node's 250 ms is less than half the world away. */
const NEXT_ADDRESS_MS = 1000

const LONGEST_RETRY_AFTER = 100

/** The body up to the limit. A response that breaks off or is too long has still been given: its status counts. */
async function readSome(body: Dispatcher.ResponseData['body'], isOver: () => boolean): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MOST_READ_BYTES) break
    }
  } catch (error) {
    if (isOver()) throw error
  }
  return Buffer.concat(chunks)
}

/** Sends webhooks over HTTP/1.1 connections that are kept and made to checked addresses only. Redirects are not followed. */
export function createSender({ rules, resolve, timeoutMs, userAgent, ca }: SenderOptions): Sender {
  const agent = new Agent({
    // An exchange has one time limit, its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      lookup: checkedLookup(resolve, rules),
      timeout: timeoutMs,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      ...(ca !== undefined && { ca }),
    },
  })

  const exchange = async (
    { url, body, headers }: Parameters<Sender['send']>[0],
    signal: AbortSignal,
  ): Promise<Pick<Exchange, 'status' | 'error' | 'response' | 'retryAfter'>> => {
    const none = { status: null, response: '', retryAfter: null }
    // What is allowed may have changed since the subscription was made.
    const problem = urlProblem(url, rules)
    if (problem !== null) return { ...none, error: problem }
    let status: number | null = null
    try {
      const { origin, pathname, search } = new URL(url)
      const response = await agent.request({
        origin,
        path: `${pathname}${search}`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'user-agent': userAgent },
        body,
        signal,
      })
      status = response.statusCode
      const retryAfter = [response.headers['retry-after']].flat()[0]?.slice(0, LONGEST_RETRY_AFTER) ?? null
      const excerpt = excerptOf(await readSome(response.body, () => signal.aborted))
      const error = status >= 300 && status < 400 ? 'redirects are not followed' : null
      return { status, error, response: excerpt, retryAfter }
    } catch (error) {
      return { ...none, status, error: signal.aborted ? 'timeout' : exchangeError(error) }
    }
  }

  return {
    send: async (request) => {
      const startedAt = new Date()
      const startedMs = performance.now()
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), timeoutMs)
      const result = await exchange(request, timeout.signal)
      clearTimeout(timer)
      return { ...result, startedAt, durationMs: Math.round(performance.now() - startedMs) }
    },
    close: async () => {
      await agent.close()
    },
  }
}
