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
    // All of them: no answer depends on a browser's session.
    exposedHeaders: '*',
    maxAge: 86_400,
    strictPreflight: false,
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The directives of a page's Content-Security-Policy. Other answers are not pages and load nothing. */
    contentSecurityPolicy?: Record<string, string[]>
  }
}

type Headers = Record<string, string>

/** Pages of other sites may embed ours. */
const PAGE = { crossOriginResourcePolicy: { policy: 'cross-origin' } } satisfies HelmetOptions

/** Data has no header fields that only concern pages or embedded content. CORS decides who may read it. */
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

/** The header fields that helmet sets. They are the same for every answer of a kind, so helmet runs once. */
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

/** Sets the security headers of every answer. Call it before the routes are added. */
export function securityHeaders(app: FastifyInstance): void {
  const ofData = headersOf(DATA)
  const ofPages = new Map<object, Headers>()
  app.addHook('onRoute', ({ config }) => {
    const directives = config?.contentSecurityPolicy
    if (!directives) return
    const xFrameOptions = !directives['frame-ancestors']?.includes('*')
    const contentSecurityPolicy = { useDefaults: false, directives }
    ofPages.set(directives, headersOf({ ...PAGE, xFrameOptions, contentSecurityPolicy }))
  })
  app.addHook('onRequest', (request, reply, done) => {
    const directives = request.routeOptions.config.contentSecurityPolicy
    reply.headers((directives && ofPages.get(directives)) ?? ofData)
    done()
  })
}
