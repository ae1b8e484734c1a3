import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import type { Bindings, ChildLoggerOptions } from 'pino'

/** Digits of a UUID that serve as a counter: enough for 2^48 requests. */
const COUNTED = 12

/**
 * Makes request ids: UUIDs that share a random part and count in the rest. They are as good to find a request by, at a
 * fraction of the cost of new random bytes for each.
 */
export function createRequestIds(): () => string {
  const random = randomUUID().slice(0, -COUNTED)
  let count = 0
  return () => random + (++count).toString(16).padStart(COUNTED, '0')
}

/** The position of a request in a trace, by W3C's names: its own span, and the sender's. */
type TraceContext = { trace_id: string; span_id: string; parent_id: string | null; sampled: boolean }

// https://www.w3.org/TR/trace-context/#traceparent-header: only versions after the first may have more than four fields.
const TRACEPARENT =
  /^(?:00(?=.{53}$)|(?!00|ff)[0-9a-f]{2}(?=.{53}(?:-|$)))-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}/

const HYPHEN = '-'.charCodeAt(0)

/**
 * A number from 0 to 1 that is the same for a trace in every process: FNV-1a of its id without hyphens, then mixed,
 * because ids may differ only in their last digits.
 */
function traceFraction(traceId: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < traceId.length; i++) {
    const code = traceId.charCodeAt(i)
    if (code !== HYPHEN) hash = Math.imul(hash ^ code, 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/**
 * The trace of a request: the one that its `traceparent` names, or, if that is missing or malformed, a new one made
 * from the request's UUID. A `share` of all traces (0 to 1) is sampled, the same ones in every process; the sender's
 * flag is ignored, because setting it costs the sender nothing.
 */
export function traceContext(requestId: string, traceparent: string | undefined, share: number): TraceContext {
  const digits = requestId.replaceAll('-', '')
  const [, trace_id = digits, parent_id = null] = (traceparent && TRACEPARENT.exec(traceparent)) || []
  const sampled = traceFraction(trace_id) < share
  return { trace_id, span_id: digits.slice(16), parent_id, sampled }
}

/** The traceparent that names a request as the parent of its queries. */
export const traceparentOf = ({ trace_id, span_id, sampled }: TraceContext): string =>
  `00-${trace_id}-${span_id}-${sampled ? '01' : '00'}`

declare module 'fastify' {
  interface FastifyInstance {
    traceOf: (request: Traced) => TraceContext
    /** Logs an answer if it is to be logged. */
    logAnswered: (request: Answered) => void
  }
}

type Level = 'info' | 'debug'

/** The id of a request, and the trace it is in. */
type Traced = { id: string; headers: IncomingHttpHeaders }

type Answered = Traced & {
  method: string
  /** Its pattern. */
  route: string | null
  url: string
  status: number
  /** From its arrival to the end of its answer. */
  ms: number
  ip: string
  /** The caller's tier; undefined if the request was refused before it was known. */
  tier: string | undefined
}

/** The name of a request's id in the log. */
export const ID_LABEL = 'request_id'

/** An answer that took longer is always logged. */
const SLOW_MS = 1000

/** An id that the client gave a request: it only appears in the log, so that it cannot be confused with ours. */
const FOREIGN_ID = /^[\x21-\x7e]{1,128}$/

const foreignId = ({ 'x-request-id': id }: IncomingHttpHeaders) =>
  typeof id === 'string' && FOREIGN_ID.test(id) ? { client_request_id: id } : {}

/**
 * The URL to log. Query strings of refused requests are omitted: they may contain a key that was put into the URL by
 * mistake.
 */
const target = (url: string, status: number): string =>
  status >= 400 && status < 500 ? (url.split('?', 1)[0] as string) : url

const single = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)

/** Adds the ids of the request and its trace to every log line of a request. */
export function tracedLogger(
  logger: FastifyBaseLogger,
  bindings: Bindings,
  options: ChildLoggerOptions,
  { headers: { traceparent } }: FastifyRequest['raw'],
): FastifyBaseLogger {
  const { trace_id } = traceContext(String(bindings[ID_LABEL]), single(traceparent), 0)
  return logger.child({ ...bindings, trace_id }, options)
}

/**
 * Logs each request that failed here or was slow, and a `share` (0 to 1) of all others; the rest are logged at debug
 * level. The share is one of traces, so that a request that calls several processes is in the logs of all or of none. A
 * client that sends a trace gets the request's span in `traceresponse`.
 */
export function requestLog(app: FastifyInstance, share: number): void {
  const everyLevel = app.log.level === 'debug' || app.log.level === 'trace' ? 'debug' : null
  app.decorate('traceOf', ({ id, headers: { traceparent } }) => traceContext(id, single(traceparent), share))

  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.traceparent !== undefined) reply.header('traceresponse', traceparentOf(app.traceOf(request)))
    done()
  })

  /** Null if it is not logged. */
  function levelOf(request: Answered): Level | null {
    if (request.status >= 500 || request.ms > SLOW_MS) return 'info'
    // Without a traceparent, the id of the trace is the UUID of the request: no need to build its context.
    const { id, headers } = request
    const isSampled = headers.traceparent === undefined ? traceFraction(id) < share : app.traceOf(request).sampled
    return isSampled ? 'info' : everyLevel
  }

  app.decorate('logAnswered', (request) => {
    const level = levelOf(request)
    if (level === null) return
    const { id, headers, url, ms, ...answered } = request
    const { trace_id, span_id, parent_id } = app.traceOf(request)
    const line = {
      [ID_LABEL]: id,
      trace_id,
      ...answered,
      url: target(url, answered.status),
      ms: Math.round(ms * 10) / 10,
      ...foreignId(headers),
      span_id,
      ...(parent_id && { parent_id }),
    }
    app.log[level](line, 'answered')
  })

  app.addHook('onResponse', (request, reply, done) => {
    const { id, method, url, headers, ip, caller } = request
    const { statusCode: status, elapsedTime: ms } = reply
    const route = request.routeOptions.url ?? null
    app.logAnswered({ id, method, route, url, headers, status, ms, ip, tier: caller?.tier })
    done()
  })
}
