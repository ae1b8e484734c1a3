import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { problemResponses } from '../http/problem.js'
import { NoQuery } from '../stablecoins/stable.js'

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

/** Where to go from the root. */
export const indexRoute: FastifyPluginAsyncZod = async (app) => {
  const schema = {
    tags: ['service'],
    operationId: 'getIndex',
    summary: 'Where to go from here',
    description: 'Paths of this service that can be asked for as they are.',
    querystring: NoQuery,
    response: {
      200: z.object({
        name: z.literal('Plumbline').meta({ description: 'What this is' }),
        links: z.record(z.string(), z.string()).meta({ description: 'Paths by what they lead to' }),
      }),
      ...problemResponses(400),
    },
  }
  app.get('/', { schema }, async () => ({ name: 'Plumbline' as const, links: LINKS }))
}
