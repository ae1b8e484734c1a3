import type { ServerResponse } from 'node:http'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { MethodNotAllowedError, NotFoundError, OverloadedError, UrlTooLongError } from './errors.js'
import { sendProblem } from './problem.js'

/**
 * Once `app.draining` is aborted, every answer closes its connection, including those of running requests: clients with
 * open connections go elsewhere, and no request is cut off.
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

/** The parameters of every route fit in this length. */
const MAX_URL_LENGTH = 2048

/**
 * Refuses requests that no route answers, before a body is read: URLs that are too long, unknown paths, and methods
 * that a path does not have. Call it before the routes are added.
 */
export function refusals(app: FastifyInstance): void {
  const patterns: { path: RegExp; method: string }[] = []
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replaceAll(/[.*]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}/?$`)
    for (const verb of [method].flat()) patterns.push({ path, method: verb })
  })

  // A callback instead of a promise: nearly all requests pass, cached ones in microseconds.
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

/** Long enough that a single stall, as at start or during garbage collection, does not count as overload. */
const AVERAGE_OVER_MS = 2000

/** At this many times the limit, everybody is refused. */
const ALL_REFUSED = 2

/**
 * Refuses requests with 503 while the event loop is delayed by more than `maxDelayMs` on average over two seconds, so
 * that accepted requests still finish: first those of the callers for whom `isLarge` is true, and everybody's above
 * twice that delay. 0 refuses none. Call it before any hook that takes work.
 */
export async function shedding(
  app: FastifyInstance,
  maxDelayMs: number,
  isLarge: (request: FastifyRequest) => boolean,
): Promise<void> {
  if (maxDelayMs === 0) return
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: AVERAGE_OVER_MS,
    pressureHandler: async (request, _reply, _type, delayMs) => {
      if (request.routeOptions.config.always) return
      const isExtreme = Number(delayMs) > ALL_REFUSED * maxDelayMs
      if (!isExtreme && !isLarge(request)) return
      app.metrics.shed.inc()
      throw new OverloadedError()
    },
  })
}
