import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'

/** The page runs its own scripts and calls its own service, nothing else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The interactive reference at /docs: Swagger UI from its package, without requests to other sites. */
export const docs: FastifyPluginAsync = async (app) => {
  app.addHook('onSend', async (_, reply, payload) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
    if (reply.statusCode === 200) reply.header('cache-control', 'public, max-age=300')
    return payload
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: { title: 'Plumbline API' },
    uiConfig: {
      docExpansion: 'list',
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
    },
  })
}
