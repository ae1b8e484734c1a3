import swaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync } from 'fastify'
import { type ApiDocument, operationsOf } from './openapi/document.js'

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

/**
 * The document as the page shows it: a padlock only where a key or a payment is needed (a key is also accepted where none
 * is), and prices beside the summaries.
 */
function shown(document: ApiDocument, prices: ReadonlyMap<string, string>): ApiDocument {
  for (const { operation } of operationsOf(document)) {
    operation.security ??= []
    const price = prices.get(operation.operationId)
    if (price !== undefined) operation.summary += ` (${price} USD)`
  }
  return document
}

/** Runs in the browser: the stream never ends, so it cannot be tried on the page, which waits for the end. */
const withoutStream = () => ({
  statePlugins: {
    spec: { wrapSelectors: { allowTryItOutFor: () => (_: unknown, path: string) => path !== '/api/v1/stream' } },
  },
})

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
    transformSpecificationClone: true,
    transformSpecification: (document) => shown(document as ApiDocument, app.operationPrices),
    uiConfig: {
      plugins: [withoutStream],
      docExpansion: 'list',
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      defaultModelsExpandDepth: 0,
    },
  })
}
