import type { FastifyInstance } from 'fastify'
import { MethodNotAllowedError, NotFoundError, UrlTooLongError } from './errors.js'
import { sendProblem } from './problem.js'

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
