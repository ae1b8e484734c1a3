import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { matchingEtag } from '../answers/cache/answer.js'
import { addressOf, createHeads } from './heads.js'
import { isProven } from './prove.js'
import { createConnectionLines, sendRendered } from './send-rendered.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** `answered`: how many requests got their answers before Fastify saw them. Off where Node is not as expected. */
    fastLane: { isOn: boolean; answered: number }
  }
}

type Options = {
  /** Names a request as Fastify names its own. */
  newId: () => string
  /** Addresses and networks of the proxies whose X-Forwarded-For is believed. */
  trustProxy: string[]
  /** Whether Node sends a head as it is rendered here; finds that out itself where left out. */
  prove?: () => Promise<boolean>
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
 * Gives answers that are in memory before Fastify is asked, at a quarter of the CPU time. They are those that Fastify
 * gives: with the head that it last sent the same body with, and found, counted, identified and logged by the functions
 * that it uses itself. Whatever is not plain (no such answer in memory, a caller to be looked up or refused, a body,
 * overload, the end of the connection or the process) goes to Fastify. To be registered when all routes are there; the
 * service is the same without it.
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
  const heads = createHeads()
  app.answersInMemory.onSent = heads.remember

  function serve(request: IncomingMessage, response: ServerResponse): boolean {
    if (isUnusual(request) || app.draining.aborted) return false
    const { headers } = request
    const url = request.url as string
    const found = app.answersInMemory.find(url, headers['accept-encoding'])
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
    const head = heads.find(variant, status)
    if (head === undefined || app.isUnderPressure?.()) return false
    const caller = app.identify(headers.authorization)
    if (caller === null) return false
    const ip = ipOf(request)
    const charged = app.charge(caller, ip)
    if (charged === null) return false

    const began = performance.now()
    const id = newId()
    app.cacheCounts.hit += 1
    lane.answered += 1
    let own = `x-request-id: ${id}\r\n`
    for (const name in charged) own += `${name}: ${charged[name]}\r\n`
    if (ageMs >= 1000) own += `age: ${Math.floor(ageMs / 1000)}\r\n`
    response.statusCode = status
    sendRendered(response, head + own + connectionLines(), status === 304 ? '' : variant.body)
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
