import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { matchingEtag } from '../answers/cache/answer.js'
import { askerOf } from '../callers/limits/plugin.js'
import { addressOf, keepHead } from './heads.js'
import { isProven } from './prove.js'
import { createConnectionLines, sendRendered } from './send-rendered.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `answered`: number of requests that were answered before Fastify saw them. Off if Node does not behave as
     * expected.
     */
    fastLane: { isOn: boolean; answered: number }
  }
}

type Options = {
  /** Makes the id of a request, as Fastify does. */
  newId: () => string
  /** Addresses and networks of the proxies whose X-Forwarded-For is trusted. */
  trustProxy: string[]
  /** Whether Node sends a response head exactly as it is rendered here; tested at start if omitted. */
  prove?: () => Promise<boolean>
}

/** Requests with a body, special headers, or the last one on a connection need all of Fastify. */
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
 * Sends cached answers before Fastify handles the request, at a quarter of the CPU time. They equal Fastify's answers:
 * they have the head that Fastify last sent with the same body, and the same functions find, count, identify and log
 * them. All other requests (nothing cached, a caller to look up or refuse, a body, overload, the end of the connection
 * or the process) go to Fastify. Register it after all routes; the service behaves the same without it.
 */
async function fastLane(app: FastifyInstance, { newId, trustProxy, prove = isProven }: Options): Promise<void> {
  const lane = { isOn: await prove(), answered: 0 }
  app.decorate('fastLane', lane)
  if (!lane.isOn) {
    app.log.warn('the fast lane stays off: this version of Node does not send a response head as the lane renders it')
    return
  }
  const { requests } = app.metrics
  const ipOf = addressOf(trustProxy)
  const connectionLines = createConnectionLines(app.server)
  app.answersInMemory.onSent = keepHead

  function serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (isUnusual(request) || app.draining.aborted) return false
    const { headers } = request
    const url = request.url as string
    const cached = app.answersInMemory.find(url, headers['accept-encoding'])
    if (cached === null) return false
    const { answer, variant, ageMs, route } = cached
    const ifNoneMatch = headers['if-none-match']
    const etag =
      ifNoneMatch === undefined || ifNoneMatch === variant.etag
        ? (ifNoneMatch ?? null)
        : matchingEtag(ifNoneMatch, answer.digest)
    // The client may have it in another coding, whose tag the 304 then needs.
    if (etag !== null && etag !== variant.etag) return false
    const status = etag === null ? 200 : 304
    const head = variant.heads[status]
    if (head === undefined || app.isUnderPressure?.()) return false
    const caller = app.identify(headers.authorization)
    if (caller === null) return false
    const ip = ipOf(request)
    const charged = app.charge(caller, ip)
    if (charged === null) return false
    app.shares.add(askerOf(caller, ip))

    const began = performance.now()
    const id = newId()
    app.cacheCounts.hit += 1
    lane.answered += 1
    let fields = `x-request-id: ${id}\r\n`
    for (const name in charged) fields += `${name}: ${charged[name]}\r\n`
    if (ageMs >= 1000) fields += `age: ${Math.floor(ageMs / 1000)}\r\n`
    response.statusCode = status
    sendRendered(response, head + fields + connectionLines(), status === 304 ? '' : variant.body)
    const ms = performance.now() - began
    requests.observe('GET', route, status, ms / 1000)
    app.logAnswered({ id, method: 'GET', route, url, headers, status, ms, ip, tier: caller.tier })
    return true
  }

  const listeners = app.server.listeners('request') as RequestListener[]
  app.server.removeAllListeners('request')
  app.server.on('request', (request, response) => {
    if (serve(request, response)) return
    for (const listener of listeners) listener.call(app.server, request, response)
  })
}

/** Fastify's mark of a plugin that belongs to the whole application. */
export default Object.assign(fastLane, { [Symbol.for('skip-override')]: true })
