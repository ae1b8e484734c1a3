import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'

const LINKS = {
  stablecoins: '/api/v1/stablecoins',
  flows: '/api/v1/stablecoins/flows?hours=24',
  flow_anomalies: '/api/v1/stablecoins/flow-anomalies',
  fee_economics: '/api/v1/fee-economics/overview',
  status: '/api/v1/status',
  openapi: '/openapi.json',
  ready: '/health/ready',
}

/** Where to go from the root. */
export const indexRoute: FastifyPluginAsyncZod = async (app) => {
  const schema = {
    tags: ['service'],
    summary: 'Where to go from here',
    response: { 200: z.object({ name: z.literal('Plumbline'), links: z.record(z.string(), z.string()) }) },
  }
  app.get('/', { schema }, async () => ({ name: 'Plumbline' as const, links: LINKS }))
}
