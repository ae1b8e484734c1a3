import type { IncomingMessage, ServerResponse } from 'node:http'
import fastifyCors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { HelmetOptions } from 'helmet'
import helmet from 'helmet'

/** Open to every origin: all data is public. */
export async function cors(app: FastifyInstance): Promise<void> {
  await app.register(fastifyCors, {
    origin: '*',
    methods: ['GET', 'HEAD', 'OPTIONS'],
    // All of them: no answer depends on who is signed in to a browser.
    exposedHeaders: '*',
    maxAge: 86_400,
    strictPreflight: false,
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a page may load: the directives of its Content-Security-Policy. Other answers are no pages and load nothing. */
    contentSecurityPolicy?: Record<string, string[]>
  }
}

type Headers = Record<string, string>

/** Pages of others may show ours. */
const PAGE = { crossOriginResourcePolicy: { policy: 'cross-origin' } } satisfies HelmetOptions

/** Data is no page: of what is for pages, and for what pages embed, it goes without. Who may read it, CORS says. */
const DATA = {
  crossOriginResourcePolicy: false,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} satisfies HelmetOptions

/** The header fields that helmet sets. They are the same for every answer of a kind, so it is asked once. */
function headersOf(options: HelmetOptions): Headers {
  const headers: Headers = {}
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
  const ofData = headersOf(DATA)
  const ofPages = new Map<object, Headers>()
  app.addHook('onRoute', ({ config }) => {
    const directives = config?.contentSecurityPolicy
    if (directives)
      ofPages.set(directives, headersOf({ ...PAGE, contentSecurityPolicy: { useDefaults: false, directives } }))
  })
  app.addHook('onRequest', (request, reply, done) => {
    const directives = request.routeOptions.config.contentSecurityPolicy
    reply.headers((directives && ofPages.get(directives)) ?? ofData)
    done()
  })
}
