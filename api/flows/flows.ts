import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { flowEdges, flowGraph } from '../../clickhouse/flows/flows.js'
import { isoSeconds } from '../../process/instants.js'
import { AS_OF_HEADER, AsOfQuery, readAsOf, requireHistory } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { querySignal } from '../answers/query-signal.js'
import { problemResponses } from '../http/problem.js'
import { FlowGraph } from './shapes.js'

const HOUR_MS = 3_600_000

export const flowsRoute: FastifyPluginAsyncZod = async (app) => {
  const config = { cache: CACHE_POLICIES.flows }
  const schema = {
    tags: ['flows'],
    operationId: 'getFlows',
    summary: 'What moved between stables in the hours until now, or until any time, largest first',
    description:
      'Swaps, rebuilt from the fills of the exchange from the first to the last token, and transfers against another stable.',
    querystring: z.strictObject({
      hours: z
        .enum(['1', '6', '24'], 'must be 1, 6 or 24')
        .default('24')
        .meta({
          type: 'integer',
          enum: [1, 6, 24],
          default: 24,
          description: 'Length of the window in hours, which ends now or at as_of',
        }),
      ...AsOfQuery,
    }),
    response: {
      200: z.object({ window_hours: z.int().meta({ description: 'Length of the window in hours' }), ...FlowGraph }),
      ...problemResponses(400, 404, 503),
    },
  }
  app.get('/stablecoins/flows', { schema, config }, async (request, reply) => {
    const window_hours = Number(request.query.hours)
    const asOf = readAsOf(app, request.query)
    const signal = querySignal(request)
    if (asOf !== null) {
      await requireHistory(app, asOf, { signal })
      reply.header(AS_OF_HEADER, isoSeconds(asOf))
    }
    // A block at that very second counts, one at the second with which the window begins does not.
    const to = new Date((Math.floor((asOf ?? app.now()).getTime() / 1000) + 1) * 1000)
    const from = new Date(to.getTime() - window_hours * HOUR_MS)
    return { window_hours, ...flowGraph(await flowEdges(app.clickhouse, { from, to }, { signal })) }
  })
}
