import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import helmet, { type HelmetOptions } from 'helmet'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a page may load: the directives of its Content-Security-Policy. Other answers are no pages and load nothing. */
    contentSecurityPolicy?: Record<string, string[]>
  }
}

const NOTHING = { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] }

/** The header fields that helmet sets, by name. They are the same for every answer, so it is asked once. */
function headersOf(directives: Record<string, string[]>): Record<string, string> {
  const options: HelmetOptions = {
    contentSecurityPolicy: { useDefaults: false, directives },
    // All data is public, and pages of others may show it.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  }
  const headers: Record<string, string> = {}
  const response = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value
    },
    removeHeader: () => {},
  }
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, () => {})
  return headers
}

/** Tells browsers to take no answer for what it is not. To be called before the routes are added. */
export function securityHeaders(app: FastifyInstance): void {
  const usual = headersOf(NOTHING)
  const ofPages = new Map<object, Record<string, string>>()
  app.addHook('onRoute', ({ config }) => {
    const directives = config?.contentSecurityPolicy
    if (directives) ofPages.set(directives, headersOf(directives))
  })
  app.addHook('onRequest', async (request, reply) => {
    const directives = request.routeOptions.config.contentSecurityPolicy
    reply.headers((directives && ofPages.get(directives)) ?? usual)
  })
}
