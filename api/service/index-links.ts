import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { endpoint } from '../answers/endpoint.js'

const LINKS = {
  stablecoins: '/api/v1/stablecoins',
  flows: '/api/v1/stablecoins/flows?hours=24',
  flow_anomalies: '/api/v1/stablecoins/flow-anomalies',
  fee_economics: '/api/v1/fee-economics/overview',
  status: '/api/v1/status',
  docs: '/docs',
  events: '/api/v1/events',
  stream: '/api/v1/stream',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  ready: '/health/ready',
}

const Index = z.object({
  name: z.literal('Plumbline').meta({ description: 'What this is' }),
  links: z.record(z.string(), z.string()).meta({ description: 'Paths by what they lead to' }),
})

const entryPoints = endpoint({
  path: '/',
  tag: 'service',
  operationId: 'getIndex',
  summary: 'Entry points of this service',
  description: 'Paths of this service that can be requested as they are.',
  about: 'now',
  response: Index,
  problems: [400],
  answer: () => ({ name: 'Plumbline' as const, links: LINKS }),
})

/** The entry points, for clients that do not prefer the page. */
export const indexRoute: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', async (_, reply) => {
    reply.header('vary', 'accept')
  })
  await app.register(entryPoints)
}
