import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { tidy, withCommonResponses, withHeaders, withNotModified } from './complete.js'
import { type ApiDocument, operationsOf } from './document.js'
import { headerExamples, recordedAnswers, withExamples } from './examples.js'
import { DOCUMENT_HEAD } from './head.js'
import { llmsText } from './llms-text.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The price of each operation that has one, by its name, in dollars. */
    operationPrices: ReadonlyMap<string, string>
  }
}

/** The documents change only with a release. */
const CACHE_CONTROL = 'public, max-age=300'

/** What the routes themselves do not say. */
type Service = {
  /** null if no payments are taken. */
  payable: {
    /** The tokens that payments are made in, preferred first; null if they are not known yet. */
    currencies: () => Promise<readonly string[] | null>
    /** The x-payment-info of an operation with a price and a summary. */
    info: (currencies: readonly string[], price: string, summary: string) => object
  } | null
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
      return jsonSchemaTransform(route)
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
  // Without the database the rest is still useful.
  const readCurrencies = async () => (await payable?.currencies().catch(() => null)) ?? null

  /** The document with the offers of every operation that has a price. */
  function offering(currencies: readonly string[]): ApiDocument {
    const document = structuredClone(app.swagger()) as unknown as ApiDocument
    for (const { operation } of operationsOf(document)) {
      const price = prices.get(operation.operationId)
      const info = price === undefined ? undefined : payable?.info(currencies, price, operation.summary)
      if (info) Object.assign(operation, { 'x-payment-info': info })
    }
    return document
  }

  let json: string | null = null
  app.get('/openapi.json', hidden, async (_, reply) => {
    const currencies = json === null ? await readCurrencies() : null
    const text = json ?? JSON.stringify(currencies ? offering(currencies) : app.swagger())
    if (payable === null || currencies) json = text
    return reply.header('cache-control', CACHE_CONTROL).type('application/json; charset=utf-8').send(text)
  })
  let text: string | null = null
  let chainId: number | null = null
  app.get('/llms.txt', hidden, async (_, reply) => {
    if (chainId === null) {
      chainId = await readChainId().catch(() => null)
      const currencies = await readCurrencies()
      const facts = { prices, chainId, requestsPerMinute, takesPayments: payable !== null, currencies }
      text = llmsText(app.swagger() as unknown as ApiDocument, facts)
    }
    return reply.header('cache-control', CACHE_CONTROL).type('text/plain; charset=utf-8').send(text)
  })
}
