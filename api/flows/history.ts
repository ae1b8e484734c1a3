import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Coverage } from '../../clickhouse/chain/coverage.js'
import { historyStart } from '../../clickhouse/chain/history.js'
import { OF_FLOWS } from '../../clickhouse/chain/unknown-events.js'
import { flowEdges, flowGraph, flowHours, usd } from '../../clickhouse/flows/flows.js'
import { BadParameterError } from '../../process/errors.js'
import { DAY_SECONDS, HOUR_SECONDS, isoSeconds } from '../../process/instants.js'
import { startOfHistory } from '../answers/as-of.js'
import { endpoint } from '../answers/endpoint.js'
import { type Bounds, BoundsQuery, type Range, readRange } from '../answers/range.js'
import { NotFoundError } from '../http/errors.js'
import { Count, FlowGraph, Usd } from './shapes.js'

/** In the reference stable. */
const PRICE = '0.02'
const LONGEST_DAYS = 366
const MONTH_SECONDS = 30 * DAY_SECONDS

const FlowsHistory = z.object({
  from: z.iso.datetime().meta({ description: 'Start of the window' }),
  to: z.iso.datetime().meta({ description: 'End of the window, not included' }),
  window_hours: z.int().meta({ description: 'Length of the window in hours, rounded up' }),
  ...FlowGraph,
  series: z
    .array(
      z.object({
        hour_start: z.iso.datetime().meta({ description: 'Start of the hour; the first may be before from' }),
        volume_usd: Usd,
        tx_count: Count.meta({ description: 'Transactions, once for each edge that they flow on' }),
        unvalued_count: Count.meta({ description: 'Flows without a USD value, which the volume leaves out' }),
      }),
    )
    .meta({ description: 'Every hour of the window, oldest first, including hours without a flow' }),
  coverage: Coverage,
})

/** The requested window, in unix seconds. Throws BadParameterError for an invalid one. */
function windowOf(app: FastifyInstance, query: Bounds): Range {
  const { from, to } = readRange(app, query)
  if (from === to) throw new BadParameterError('to', 'must be later than from')
  if (to - from > LONGEST_DAYS * DAY_SECONDS)
    throw new BadParameterError('to', `must be at most ${LONGEST_DAYS} days after from`)
  return { from, to }
}

const dateOf = (seconds: number): Date => new Date(seconds * 1000)

export const flowsHistoryRoute = endpoint({
  path: '/stablecoins/flows/history',
  tag: 'flows',
  operationId: 'getFlowHistory',
  summary: 'Flows between stables in any window, in total and by hour',
  description: `Costs ${PRICE} of the reference stable per query, nothing with a subscription key. A window has at most ${LONGEST_DAYS} days.`,
  about: 'now',
  query: BoundsQuery,
  response: FlowsHistory,
  problems: [400, 401, 402, 404, 503],
  price: PRICE,
  cost: ({ app, query }) => {
    const { from, to } = readRange(app, query)
    return 1 + Math.floor((to - from) / MONTH_SECONDS)
  },
  check: async ({ app, query, signal }) => {
    const to = dateOf(windowOf(app, query).to)
    const start = await historyStart(app.clickhouse, { signal })
    if (!start || to <= start)
      throw new NotFoundError('before-history', `to ${isoSeconds(to)} is before ${startOfHistory(start)}`, 'to')
  },
  // The second `to` is not part of the window.
  covers: ({ app, query }) => {
    const { from, to } = readRange(app, query)
    return { families: ['logs'], logsOf: OF_FLOWS, from, to: to - 1, isPriced: true }
  },
  answer: async ({ app, query, signal }) => {
    const { from, to } = windowOf(app, query)
    const window = { from: dateOf(from), to: dateOf(to) }
    const [edges, hours] = await Promise.all([
      flowEdges(app.clickhouse, window, { signal }),
      flowHours(app.clickhouse, window, { signal }),
    ])
    return {
      from: isoSeconds(window.from),
      to: isoSeconds(window.to),
      window_hours: Math.ceil((to - from) / HOUR_SECONDS),
      ...flowGraph(edges),
      series: hours.map(({ hour_start, volume_micros, ...counts }) => ({
        hour_start: isoSeconds(hour_start),
        volume_usd: usd(BigInt(volume_micros)),
        ...counts,
      })),
    }
  },
})
