import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { flowEdges, flowGraph, graphOf } from '../../clickhouse/flows/flows.js'
import { Address } from '../../clickhouse/store/values.js'
import { AsOfQuery, lastSeconds } from '../answers/as-of.js'
import { CACHE_POLICIES } from '../answers/cache/policies.js'
import { endpoint } from '../answers/endpoint.js'
import { requireStable } from '../answers/stable.js'
import { FlowGraph } from './shapes.js'

const HOUR_MS = 3_600_000

const HoursQuery = z
  .enum(['1', '6', '24'], 'must be 1, 6 or 24')
  .default('24')
  .meta({
    type: 'integer',
    enum: [1, 6, 24],
    default: 24,
    description:
      'Length of the window in hours; it ends with the newest stored block, coverage.measured_until, or at as_of',
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
    'A flow is a swap, rebuilt from the fills of the exchange from the first to the last token, or two transfers in one transaction that exchange one stable for another. Mints, burns, bridges and plain transfers are not flows. The net flow out of a stable is `outbound_usd` minus `inbound_usd` of its node. For a longer time than a day, see flow history, or add the answers for `hours=24` as of fixed times that are a day apart.',
  about: 'moment',
  query: {
    hours: HoursQuery,
    stable: Address.optional().meta({
      description:
        'Only edges from or to this stable, and the nodes at their ends; the totals of a node are those of all edges',
    }),
    ...AsOfQuery,
  },
  response: FlowsResponse,
  cache: CACHE_POLICIES.flows,
  check: async ({ app, query: { stable } }) => {
    if (stable !== undefined) await requireStable(app, stable, 'stable')
  },
  covers: ({ at, query }) => ({
    families: ['logs'],
    logsOf: OF_FLOWS,
    ...lastSeconds(at, (Number(query.hours) * HOUR_MS) / 1000),
    isPriced: true,
    isOfWindows: true,
  }),
  answer: async ({ app, cutoff, query, signal }) => {
    const window_hours = Number(query.hours)
    // A block at that second is included; one at the second with which the window begins is not.
    const to = new Date(cutoff.getTime() + 1000)
    const from = new Date(to.getTime() - window_hours * HOUR_MS)
    const graph = flowGraph(await flowEdges(app.clickhouse, { from, to }, { signal }))
    return { window_hours, ...(query.stable === undefined ? graph : graphOf(graph, query.stable)) }
  },
})
