import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

/** The type provider defines each named schema twice, as input and as output. */
function withoutUnused<Document extends ReturnType<typeof jsonSchemaTransformObject>>(document: Document): Document {
  const text = JSON.stringify(document)
  const schemas = 'components' in document ? document.components?.schemas : undefined
  for (const name in schemas) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
  return document
}

/** Describes all routes that are added after it at /openapi.json, out of the schemas that serve them. */
export async function openapi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Plumbline',
        version: '1.0.0',
        description:
          'Measurements of the stablecoins of the Tempo chain: prices against the reference stable, flows, supply and policy. ' +
          'Every value is read from the chain. null means not measured, never 0.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          subscription: { type: 'http', scheme: 'bearer', description: 'A subscription key, instead of a payment' },
          admin: { type: 'http', scheme: 'bearer', description: 'The admin key' },
        },
      },
      tags: [
        { name: 'stablecoins', description: 'What is tracked, and its state' },
        { name: 'peg', description: 'Prices against the reference stable' },
        { name: 'rewards', description: 'What holders are given' },
        { name: 'fees', description: 'Which stables fees are paid in' },
        { name: 'risk', description: 'Scores that can be explained' },
        { name: 'reserves', description: 'What stands behind a stable' },
        { name: 'flows', description: 'Value that moves between stables' },
        { name: 'service', description: 'The service itself' },
        { name: 'admin', description: 'For the operator' },
      ],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
