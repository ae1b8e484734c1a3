import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { tidy, withCommonResponses, withHeaders, withNotModified } from './complete.js'
import type { ApiDocument } from './document.js'
import { headerExamples, recordedAnswers, withExamples } from './examples.js'
import { DOCUMENT_HEAD } from './head.js'
import { llmsText } from './llms-text.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The price of each operation that has one, by its name, in whole units of the reference stable. */
    operationPrices: ReadonlyMap<string, string>
  }
}

/** The documents change only with a release. */
const CACHE_CONTROL = 'public, max-age=300'

/** What the routes themselves do not say. */
type Service = {
  /** The x-payment-info of an operation with a price and a summary; null if no payments are taken. */
  payable: ((price: string, summary: string) => object) | null
  /** The limit of an address without a key; 0 for none. */
  requestsPerMinute: number
  /** The id of the chain; null before it is known. */
  readChainId: () => Promise<number | null>
}

/**
 * Describes all routes that are added after it, from their schemas and the recorded answers: at /openapi.json for
 * programs, at /llms.txt for agents.
 */
export async function openapi(app: FastifyInstance, service: Service): Promise<void> {
  const { payable, requestsPerMinute, readChainId } = service
  const recorded = recordedAnswers()
  const prices = new Map<string, string>()
  const cached = new Set<string>()
  app.decorate('operationPrices', prices)
  await app.register(swagger, {
    openapi: DOCUMENT_HEAD,
    transform: (route) => {
      const { price, cache } = route.route.config ?? {}
      const operationId = route.schema?.operationId
      if (price !== undefined && operationId) prices.set(operationId, price)
      if (cache !== undefined && operationId) cached.add(operationId)
      const { schema, url } = jsonSchemaTransform(route)
      if (payable === null || price === undefined) return { schema, url }
      const info = payable(price, route.schema?.summary ?? '')
      return { schema: { ...schema, 'x-payment-info': info } as typeof schema, url }
    },
    transformObject: (input) => {
      const document = tidy(jsonSchemaTransformObject(input) as unknown as ApiDocument)
      const described = withCommonResponses(withExamples(document, recorded), {
        ...recorded.problems,
        ...(recorded.payments?.[409] && { 409: recorded.payments[409] }),
      })
      return withHeaders(withNotModified(described, cached), headerExamples(recorded)) as object
    },
  })
  const hidden = { schema: { hide: true } }
  let json: string | null = null
  app.get('/openapi.json', hidden, async (_, reply) => {
    json ??= JSON.stringify(app.swagger())
    return reply.header('cache-control', CACHE_CONTROL).type('application/json; charset=utf-8').send(json)
  })
  let text: string | null = null
  let chainId: number | null = null
  app.get('/llms.txt', hidden, async (_, reply) => {
    if (chainId === null) {
      // Without the database the rest is still useful.
      chainId = await readChainId().catch(() => null)
      const facts = { prices, chainId, requestsPerMinute, takesPayments: payable !== null }
      text = llmsText(app.swagger() as unknown as ApiDocument, facts)
    }
    return reply.header('cache-control', CACHE_CONTROL).type('text/plain; charset=utf-8').send(text)
  })
}
