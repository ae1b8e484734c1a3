import type { ServerResponse } from 'node:http'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { MethodNotAllowedError, NotFoundError, OverloadedError, UrlTooLongError } from './errors.js'
import { sendProblem } from './problem.js'

/**
 * Once `app.draining` is aborted, every answer says that it is the last of its connection, those of requests that are
 * already running too: whoever keeps connections open goes elsewhere, and none is cut in the middle of a request.
 */
export function drain(app: FastifyInstance): void {
  const running = new Set<ServerResponse>()
  const sayLast = (raw: ServerResponse): void => {
    if (!raw.headersSent) raw.setHeader('connection', 'close')
  }
  app.draining.addEventListener('abort', () => running.forEach(sayLast), { once: true })
  app.addHook('onRequest', (_, { raw }, done) => {
    if (app.draining.aborted) sayLast(raw)
    running.add(raw)
    raw.once('close', () => running.delete(raw))
    done()
  })
}

/** No route has parameters that add up to more. */
const MAX_URL_LENGTH = 2048

/**
 * Refuses what no route answers, before a body is read: URLs that are too long, unknown paths, and methods that a
 * path does not have. To be called before the routes are added.
 */
export function refusals(app: FastifyInstance): void {
  const patterns: { path: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replaceAll(/[.*]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}/?$`)
    for (const one of [method].flat()) patterns.push({ path, method: one })
  })

  // No promise: nearly all requests pass, and hot ones in microseconds.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    if ((request.raw.url?.length ?? 0) > MAX_URL_LENGTH) return done(new UrlTooLongError())
    if (!request.is404) return done()
    const path = request.url.split('?', 1)[0] as string
    const allowed = patterns.filter((route) => route.path.test(path)).map(({ method }) => method)
    if (allowed.length === 0) return done(new NotFoundError('unknown-route', `there is nothing at ${path}`))
    done(new MethodNotAllowedError(request.method, [...new Set([...allowed, 'OPTIONS'])].join(', ')))
  })

  app.setNotFoundHandler((request, reply) =>
    sendProblem(new NotFoundError('unknown-route', 'there is nothing here'), request, reply),
  )
}

/** Long enough that one stall, as at the start of a process or of a collection of garbage, is no overload. */
const AVERAGE_OVER_MS = 2000

/**
 * Refuses requests with 503 while the event loop is late by more than `maxDelayMs` on average over two seconds, so that
 * those it has taken on still end; 0 refuses none. To be called before all that takes work.
 */
export async function shedding(app: FastifyInstance, maxDelayMs: number): Promise<void> {
  if (maxDelayMs === 0) return
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: AVERAGE_OVER_MS,
    pressureHandler: async (request) => {
      if (request.routeOptions.config.always) return
      app.metrics.shed.inc()
      throw new OverloadedError()
    },
  })
}
