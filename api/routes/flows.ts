import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { flowEdges } from '../../clickhouse/queries/flow-edges.js'
import { flowGraph } from '../../domain/flow-graph.js'
import { problemResponses } from '../problem.js'
import { querySignal } from '../query-signal.js'

const usd = z.string().regex(/^\d+\.\d{6}$/)
const count = z.int().nonnegative()

const FlowGraph = z.object({
  window_hours: z.int(),
  edges: z.array(
    z.object({
      from: z.string().meta({ description: 'Symbol of the stable that was given' }),
      to: z.string().meta({ description: 'Symbol of the stable that was got' }),
      from_address: z.string(),
      to_address: z.string(),
      volume_usd: usd,
      tx_count: count,
      unpriced_count: count.meta({ description: 'Movements without a USD value, which the volume leaves out' }),
    }),
  ),
  nodes: z.array(z.object({ symbol: z.string(), address: z.string(), inbound_usd: usd, outbound_usd: usd })),
})

const HOUR_MS = 3_600_000

export const flowsRoute: FastifyPluginAsyncZod = async (app) => {
  const schema = {
    tags: ['flows'],
    summary: 'What moved between stables in the last hours, largest first',
    querystring: z.strictObject({
      hours: z
        .enum(['1', '6', '24'], 'must be 1, 6 or 24')
        .default('24')
        .meta({ type: 'integer', enum: [1, 6, 24], default: 24, description: 'Length of the window, which ends now' }),
    }),
    response: { 200: FlowGraph, ...problemResponses(400, 503) },
  }
  app.get('/stablecoins/flows', { schema }, async (request) => {
    const window_hours = Number(request.query.hours)
    const to = new Date(Math.floor(app.now().getTime() / 1000) * 1000)
    const from = new Date(to.getTime() - window_hours * HOUR_MS)
    const edges = await flowEdges(app.clickhouse, { from, to }, { signal: querySignal(request) })
    return { window_hours, ...flowGraph(edges) }
  })
}
