import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { flowEdges, flowGraph } from '../../clickhouse/flows/flows.js'
import { AsOfQuery, lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { FlowGraph } from './shapes.js'

const HOUR_MS = 3_600_000

const HoursQuery = z
  .enum(['1', '6', '24'], 'must be 1, 6 or 24')
  .default('24')
  .meta({
    type: 'integer',
    enum: [1, 6, 24],
    default: 24,
    description: 'Length of the window in hours, which ends now or at as_of',
  })

const FlowsResponse = z.object({
  window_hours: z.int().meta({ description: 'Length of the window in hours' }),
  ...FlowGraph,
  coverage: Coverage,
})

export const flowsRoute = endpoint({
  path: '/stablecoins/flows',
  tag: 'flows',
  operationId: 'getFlows',
  summary: 'Flows between stables in the last hours, largest first',
  description:
    'Swaps, rebuilt from the fills of the exchange from the first to the last token, and transfers against another stable.',
  about: 'moment',
  query: { hours: HoursQuery, ...AsOfQuery },
  response: FlowsResponse,
  cache: CACHE_POLICIES.flows,
  covers: ({ at, query }) => ({
    families: ['logs'],
    ...lastSeconds(at, (Number(query.hours) * HOUR_MS) / 1000),
    isPriced: true,
  }),
  answer: async ({ app, at, query, signal }) => {
    const window_hours = Number(query.hours)
    // A block at that second is included; one at the second with which the window begins is not.
    const to = new Date(at.getTime() + 1000)
    const from = new Date(to.getTime() - window_hours * HOUR_MS)
    return { window_hours, ...flowGraph(await flowEdges(app.clickhouse, { from, to }, { signal })) }
  },
})
