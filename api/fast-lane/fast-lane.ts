import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { matchingEtag } from '../answers/cache/answer.js'
import { createConnectionLines, sendRendered } from './send-rendered.js'

type Options = {
  newId: () => string
  /** The address that a request is from, behind the proxies that are trusted. */
  addressOf: (request: IncomingMessage) => string
}

/** What has a body, wants an answer in another way, or is the last on its connection, has to be seen as a whole. */
const isUnusual = ({ method, httpVersion, headers }: IncomingMessage): boolean =>
  method !== 'GET' ||
  httpVersion !== '1.1' ||
  (headers.connection !== undefined && !/^keep-alive$/i.test(headers.connection)) ||
  headers['content-length'] !== undefined ||
  headers['transfer-encoding'] !== undefined ||
  headers.expect !== undefined ||
  headers.upgrade !== undefined ||
  headers.traceparent !== undefined

/**
 * Gives answers that are in memory before Fastify is asked, at a quarter of the CPU time. They are those that Fastify would
 * give: with the head that it last sent the same body with, counted against the same limits, in the same metrics and
 * log. Whatever is not plain (no such answer in memory, a caller to be looked up or refused, a body, overload, the end of the
 * connection or the process) goes to Fastify. To be called when all routes are there.
 */
export function fastLane(app: FastifyInstance, { newId, addressOf }: Options): void {
  const { requests } = app.metrics
  const connectionLines = createConnectionLines(app.server)

  function serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (isUnusual(request) || app.draining.aborted) return false
    const { headers } = request
    const url = request.url as string
    const found = app.answerNow(url, headers['accept-encoding'])
    if (found === null) return false
    const { answer, variant, ageMs, route } = found
    const ifNoneMatch = headers['if-none-match']
    const etag =
      ifNoneMatch === undefined || ifNoneMatch === variant.etag
        ? (ifNoneMatch ?? null)
        : matchingEtag(ifNoneMatch, answer.digest)
    // A client may hold it in another coding, whose tag the 304 has then.
    if (etag !== null && etag !== variant.etag) return false
    const status = etag === null ? 200 : 304
    const head = variant.heads[status]
    if (head === null || app.isUnderPressure?.()) return false
    const caller = app.callerNow(headers.authorization)
    if (caller === null) return false
    const ip = addressOf(request)
    const charged = app.chargeNow(caller, ip)
    if (charged === null) return false

    const began = performance.now()
    const id = newId()
    app.cacheCounts.hit += 1
    const age = ageMs < 1000 ? '' : `age: ${Math.floor(ageMs / 1000)}\r\n`
    const own = `x-request-id: ${id}\r\n${charged}${age}${connectionLines()}`
    response.statusCode = status
    sendRendered(response, head + own, status === 304 ? '' : variant.body)
    const ms = performance.now() - began
    requests.observe('GET', route, status, ms / 1000)
    const level = app.levelNow(status, ms)
    if (level !== null)
      app.logAnswered(level, { id, method: 'GET', route, url, headers, status, ms, ip, tier: caller.tier })
    return true
  }

  const listeners = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (serve(request, response)) return
    for (const listener of listeners) listener.call(app.server, request, response)
  })
}
